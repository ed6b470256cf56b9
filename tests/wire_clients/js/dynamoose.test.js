// Dynamoose: models that make their tables, with an index, time to live, conditions, batches and a transaction.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import dynamoose from 'dynamoose'
import { dynamodb, startPostino } from './postino.js'

dynamoose.aws.ddb.set(new dynamoose.aws.ddb.DynamoDB(await startPostino(dynamodb)))

const schema = new dynamoose.Schema(
  {
    artist: { type: String, hashKey: true },
    song: { type: String, rangeKey: true },
    genre: { type: String, index: { name: 'byGenre', rangeKey: 'year', type: 'global' } },
    year: Number,
    tags: { type: Set, schema: [String] },
    length: { type: Object, schema: { minutes: Number, seconds: Number } },
  },
  { saveUnknown: false, timestamps: false },
)
const Song = dynamoose.model('Song', schema)
const table = new dynamoose.Table('songs', [Song], {
  initialize: false,
  expires: { ttl: 3600, attribute: 'expires' },
  waitForActive: { enabled: true, check: { timeout: 30_000, frequency: 100 } },
})
await table.initialize()

const names = (songs) => songs.map(({ song }) => song)

async function put(artist, song, genre, year) {
  await Song.update({ artist, song }, { $SET: { genre, year } })
}

test('a model makes its table, index and time to live', async () => {
  const ddb = dynamoose.aws.ddb()
  const { Table } = await ddb.describeTable({ TableName: 'songs' })
  assert.equal(Table.TableStatus, 'ACTIVE')
  assert.deepEqual(
    Table.GlobalSecondaryIndexes.map(({ IndexName, KeySchema }) => [IndexName, KeySchema.map((key) => key.AttributeName)]),
    [['byGenre', ['genre', 'year']]],
  )
  const { TimeToLiveDescription } = await ddb.describeTimeToLive({ TableName: 'songs' })
  assert.deepEqual(TimeToLiveDescription, { AttributeName: 'expires', TimeToLiveStatus: 'ENABLED' })
})

test('an item is created once, changed and deleted', async () => {
  const made = { artist: 'Nina', song: 'Sinnerman', genre: 'jazz', year: 1965, tags: new Set(['live', 'long']) }
  await Song.create({ ...made, length: { minutes: 10, seconds: 20 } })
  await assert.rejects(Song.create(made), { name: 'ConditionalCheckFailedException' })
  await Song.update({ artist: 'Nina', song: 'Sinnerman' }, { $ADD: { year: 1, tags: new Set(['remade']) }, $REMOVE: ['genre'] })
  const read = await Song.get({ artist: 'Nina', song: 'Sinnerman' })
  assert.equal(read.year, 1966)
  assert.equal(read.genre, undefined)
  assert.deepEqual([...read.tags].sort(), ['live', 'long', 'remade'])
  assert.deepEqual({ ...read.length }, { minutes: 10, seconds: 20 })
  await assert.rejects(
    Song.delete({ artist: 'Nina', song: 'Sinnerman' }, { condition: new dynamoose.Condition().where('year').eq(1965) }),
    { name: 'ConditionalCheckFailedException' },
  )
  await Song.delete({ artist: 'Nina', song: 'Sinnerman' })
  assert.equal(await Song.get({ artist: 'Nina', song: 'Sinnerman' }), undefined)
})

test('queries read the table and its index in order, with filters and pages', async () => {
  for (const [song, year] of [['A', 1971], ['B', 1973], ['C', 1972], ['D', 1974]]) await put('Roberta', song, 'soul', year)
  assert.deepEqual(names(await Song.query('artist').eq('Roberta').where('song').between('B', 'C').exec()), ['B', 'C'])
  assert.deepEqual(names(await Song.query('genre').eq('soul').where('year').ge(1972).using('byGenre').exec()), ['C', 'B', 'D'])
  assert.deepEqual(names(await Song.query('artist').eq('Roberta').filter('year').in([1971, 1974]).sort('descending').exec()), ['D', 'A'])
  const first = await Song.query('artist').eq('Roberta').limit(3).exec()
  assert.equal(first.count, 3)
  const rest = await Song.query('artist').eq('Roberta').startAt(first.lastKey).exec()
  assert.deepEqual(names(rest), ['D'])
  assert.equal((await Song.scan('year').lt(1973).count().exec()).count, 2)
})

test('batches and transactions are whole', async () => {
  const songs = Array.from({ length: 20 }, (_, i) => ({ artist: 'Batch', song: String(i).padStart(2, '0'), year: i }))
  const { unprocessedItems } = await Song.batchPut(songs)
  assert.deepEqual(unprocessedItems, [])
  assert.equal((await Song.batchGet(songs.map(({ artist, song }) => ({ artist, song })))).length, 20)
  await assert.rejects(
    dynamoose.transaction([
      Song.transaction.update({ artist: 'Batch', song: '00' }, { $SET: { year: 100 } }),
      Song.transaction.create({ artist: 'Batch', song: '01', year: 1 }),
    ]),
    { name: 'TransactionCanceledException' },
  )
  assert.equal((await Song.get({ artist: 'Batch', song: '00' })).year, 0)
  await dynamoose.transaction([
    Song.transaction.update({ artist: 'Batch', song: '00' }, { $SET: { year: 100 } }),
    Song.transaction.delete({ artist: 'Batch', song: '01' }),
  ])
  assert.equal((await Song.get({ artist: 'Batch', song: '00' })).year, 100)
  assert.equal(await Song.get({ artist: 'Batch', song: '01' }), undefined)
})
