filedesc://x.arc 0.0.0.0 20200101000000 text/plain 13
1 0 Somebody

http://a/b c - - text/html -1

http://b/ 1.1.1.1 201404010000000000 x abc

