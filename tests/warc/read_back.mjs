// Reads a WARC file with warcio.js and prints what it sees, a JSON object a record: the independent witness.
//
// usage: node read_back.mjs FILE

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { WARCParser } from "warcio";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

function base32(bytes) {
  let out = "";
  let bits = 0n;
  for (const byte of bytes) bits = (bits << 8n) | BigInt(byte);
  for (let left = BigInt(bytes.length * 8 - 5); left >= 0n; left -= 5n) out += ALPHABET[Number((bits >> left) & 31n)];
  return out;
}

const parser = new WARCParser(createReadStream(process.argv[2]));
for await (const record of parser) {
  const payload = await record.readFully(false);
  const seen = {
    type: record.warcType,
    uri: record.warcTargetURI ?? null,
    date: record.warcDate,
    id: record.warcHeader("WARC-Record-ID"),
    status: record.httpHeaders && record.warcType !== "request" ? record.httpHeaders.statusCode : null,
    payload_bytes: payload ? payload.length : 0,
    payload_sha1: "sha1:" + base32(createHash("sha1").update(payload ?? new Uint8Array()).digest()),
    declared: record.warcPayloadDigest ?? null,
    ip: record.warcHeader("WARC-IP-Address") ?? null,
    truncated: record.warcHeader("WARC-Truncated") ?? null,
    profile: record.warcHeader("WARC-Profile") ?? null,
    refers_to_uri: record.warcHeader("WARC-Refers-To-Target-URI") ?? null,
    refers_to_date: record.warcHeader("WARC-Refers-To-Date") ?? null,
    concurrent_to: record.warcHeader("WARC-Concurrent-To")?.split(", ") ?? null,
    offset: parser.offset,
  };
  await record.skipFully();
  seen.length = parser.recordLength;
  process.stdout.write(JSON.stringify(seen) + "\n");
}
