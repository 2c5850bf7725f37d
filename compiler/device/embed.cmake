# cmake -DIN=file -DOUT=file -P embed.cmake: the bytes of a file as a list of C integer literals.
file(READ "${IN}" hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," list "${hex}")
string(REGEX REPLACE "((0x..,){24})" "\\1\n" list "${list}")
file(WRITE "${OUT}" "${list}\n")
