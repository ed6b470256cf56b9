// DynamoDB-Toolbox: two kinds of entities in one table, with an index, conditions, batches and a transaction.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ConditionalCheckFailedException,
  CreateTableCommand,
  DynamoDBClient,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import {
  $add,
  $append,
  BatchGetCommand,
  BatchGetRequest,
  BatchPutRequest,
  BatchWriteCommand,
  ConditionCheck,
  DeleteItemCommand,
  Entity,
  GetItemCommand,
  PutItemCommand,
  PutTransaction,
  QueryCommand,
  ScanCommand,
  Table,
  UpdateItemCommand,
  UpdateTransaction,
  executeBatchGet,
  executeBatchWrite,
  executeTransactWrite,
  item,
  list,
  map,
  number,
  set,
  string,
} from 'dynamodb-toolbox'
import { startPostino, tableInput } from './postino.js'

const client = new DynamoDBClient(await startPostino())
await client.send(new CreateTableCommand(tableInput('shop', 'PK:S SK:S', { byOwner: 'owner:S SK:S' })))
await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName: 'shop' })

const shop = new Table({
  name: 'shop',
  partitionKey: { name: 'PK', type: 'string' },
  sortKey: { name: 'SK', type: 'string' },
  indexes: {
    byOwner: {
      type: 'global',
      partitionKey: { name: 'owner', type: 'string' },
      sortKey: { name: 'SK', type: 'string' },
    },
  },
  documentClient: DynamoDBDocumentClient.from(client),
})

const Product = new Entity({
  name: 'product',
  table: shop,
  schema: item({
    shelf: string().key().savedAs('PK'),
    code: string().key().savedAs('SK'),
    owner: string().optional(),
    stock: number().default(0),
    tags: set(string()).optional(),
    history: list(string()).optional(),
    size: map({ width: number(), height: number() }).optional(),
  }),
})

const Owner = new Entity({
  name: 'owner',
  table: shop,
  schema: item({
    id: string().key().savedAs('PK'),
    kind: string().key().savedAs('SK'),
    name: string(),
    products: number().default(0),
  }),
})

const lamp = {
  shelf: 'shelf-1',
  code: 'lamp',
  owner: 'ada',
  stock: 5,
  tags: new Set(['light']),
  size: { width: 10, height: 40 },
}

test('an entity is put, read and deleted', async () => {
  await Product.build(PutItemCommand).item(lamp).send()
  const { Item } = await Product.build(GetItemCommand)
    .key({ shelf: 'shelf-1', code: 'lamp' })
    .options({ consistent: true })
    .send()
  const { created, modified, entity, ...stored } = Item
  assert.deepEqual(stored, lamp)
  const { Attributes } = await Product.build(DeleteItemCommand)
    .key({ shelf: 'shelf-1', code: 'lamp' })
    .options({ returnValues: 'ALL_OLD' })
    .send()
  assert.equal(Attributes.stock, 5)
})

test('updates add, append and check conditions', async () => {
  await Product.build(PutItemCommand).item(lamp).send()
  const sell = Product.build(UpdateItemCommand)
    .item({
      shelf: 'shelf-1',
      code: 'lamp',
      stock: $add(-3),
      history: $append(['sold 3']),
      tags: $add(new Set(['sale'])),
    })
    .options({ condition: { attr: 'stock', gte: 3 }, returnValues: 'ALL_NEW' })
  const { Attributes } = await sell.send()
  assert.equal(Attributes.stock, 2)
  assert.deepEqual(Attributes.history, ['sold 3'])
  assert.deepEqual(Attributes.tags, new Set(['light', 'sale']))
  await assert.rejects(sell.send(), ConditionalCheckFailedException)
})

test('batches, queries and scans return entities', async () => {
  const products = Array.from({ length: 10 }, (_, position) => ({
    shelf: 'shelf-2',
    code: `book-${position}`,
    owner: position % 2 ? 'ada' : 'bob',
    stock: position,
  }))
  await executeBatchWrite(
    shop.build(BatchWriteCommand).requests(...products.map((each) => Product.build(BatchPutRequest).item(each))),
  )
  const { Responses } = await executeBatchGet(
    shop
      .build(BatchGetCommand)
      .requests(
        Product.build(BatchGetRequest).key({ shelf: 'shelf-2', code: 'book-1' }),
        Product.build(BatchGetRequest).key({ shelf: 'shelf-2', code: 'book-9' }),
      ),
  )
  assert.deepEqual(
    Responses[0].map((each) => each?.stock),
    [1, 9],
  )
  const query = await shop
    .build(QueryCommand)
    .query({ partition: 'shelf-2', range: { beginsWith: 'book-' } })
    .entities(Product)
    .options({ filters: { product: { attr: 'stock', gt: 6 } }, reverse: true })
    .send()
  assert.deepEqual(
    query.Items.map((each) => each.stock),
    [9, 8, 7],
  )
  const owned = await shop
    .build(QueryCommand)
    .query({ index: 'byOwner', partition: 'bob', range: { gte: 'book-4' } })
    .entities(Product)
    .send()
  assert.deepEqual(
    owned.Items.map((each) => each.code),
    ['book-4', 'book-6', 'book-8'],
  )
  const scan = await shop.build(ScanCommand).entities(Product).options({ maxPages: Infinity, limit: 3 }).send()
  assert.equal(scan.Items.length, 11)
})

test('a transaction spans entities', async () => {
  await Owner.build(PutItemCommand).item({ id: 'ada', kind: 'person', name: 'Ada' }).send()
  const add = (code) =>
    executeTransactWrite(
      Owner.build(ConditionCheck).key({ id: 'registry', kind: 'open' }).condition({ attr: 'id', exists: false }),
      Product.build(PutTransaction)
        .item({ shelf: 'shelf-3', code, owner: 'ada' })
        .options({ condition: { attr: 'code', exists: false } }),
      Owner.build(UpdateTransaction).item({ id: 'ada', kind: 'person', products: $add(1) }),
    )
  await add('chair')
  await assert.rejects(add('chair'), { name: 'TransactionCanceledException' })
  const { Item } = await Owner.build(GetItemCommand).key({ id: 'ada', kind: 'person' }).send()
  assert.equal(Item.products, 1)
})
