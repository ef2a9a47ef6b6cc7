import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foldText, Keywords } from './keywords.ts'

const isIn = (keyword: string, text: string) => new Keywords([keyword]).appearIn(foldText(text))

test('a keyword is found as a whole word, in any case and between any signs', () => {
  for (const text of ['Art', 'modern ART!', '(art)', 'art-house', 'pop\nart', 'art']) assert.ok(isIn('Art', text), text)
  for (const text of ['Start', 'party', 'artist', 'smart', 'art1', 'art_house', '']) assert.ok(!isIn('art', text), text)
})

test('a keyword can have several words and signs, whatever the spaces between them', () => {
  assert.ok(isIn('free  spins', 'Get FREE\n spins now'))
  assert.ok(!isIn('free spins', 'free-spins'))
  assert.ok(isIn('18+', 'For 18+ only') && isIn('18+', 'Only 18+') && isIn('c++', 'Learn C++.'))
  assert.ok(!isIn('18+', '118+'))
})

test('a star at the end stands for any ending', () => {
  assert.ok(isIn('casino*', 'Two casinos') && isIn('casino*', 'A casino'))
  assert.ok(!isIn('casino*', 'minicasino') && !isIn('*', 'anything'))
})

test('words of other scripts and alphabets are found as their readers see them', () => {
  assert.ok(isIn('КАЗИНО', 'Лучшее казино.') && !isIn('каз', 'казино'))
  assert.ok(isIn('賭博', 'オンライン賭博ゲーム'), 'where words have no spaces between them')
  assert.ok(isIn('พนัน', 'เล่นพนันออนไลน์'))
  assert.ok(isIn('cafe\u0301', 'Café') && isIn('casino', 'Ｃａｓｉｎｏ'), 'the same letters written in another way')
  assert.ok(!isIn('cafe', 'Café'))
  assert.ok(isIn('🎰', 'Play 🎰now'))
})

test('of many keywords any is found, and none where there is none', () => {
  const many = new Keywords([...Array.from({ length: 200 }, (_, i) => `word${i} of many`), 'bingo'])
  assert.ok(many.appearIn('word7 of many') && many.appearIn('a bingo night'))
  assert.ok(!many.appearIn('word7 of man') && !many.appearIn('word200 of many'))
  assert.ok(new Keywords(['', ' ', '*']).isEmpty)
})
