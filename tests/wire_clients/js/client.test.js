// The low-level client: every kind of operation once, errors as the classes of the SDK, waiters and paginators.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  BatchExecuteStatementCommand,
  BatchGetItemCommand,
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  CreateTableCommand,
  DeleteItemCommand,
  DeleteTableCommand,
  DescribeLimitsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  ExecuteStatementCommand,
  ExecuteTransactionCommand,
  GetItemCommand,
  ListTagsOfResourceCommand,
  PutItemCommand,
  QueryCommand,
  ResourceNotFoundException,
  TagResourceCommand,
  TransactGetItemsCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  UpdateTimeToLiveCommand,
  paginateListTables,
  paginateQuery,
  paginateScan,
  waitUntilTableExists,
  waitUntilTableNotExists,
} from '@aws-sdk/client-dynamodb'
import { startPostino, tableInput } from './postino.js'

const client = new DynamoDBClient(await startPostino())
const TableName = 'letters'
const patience = { client, maxWaitTime: 30, minDelay: 1 }

await client.send(new CreateTableCommand(tableInput(TableName, 'pk:S sk:N', { byColor: 'color:S sk:N' })))
await waitUntilTableExists(patience, { TableName })

test('a table is described', async () => {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }))
  assert.equal(Table.TableStatus, 'ACTIVE')
  assert.ok(Table.CreationDateTime instanceof Date)
  assert.equal(Table.GlobalSecondaryIndexes[0].IndexName, 'byColor')
})

test('every type of value comes back', async () => {
  const Item = {
    pk: { S: 'types' },
    sk: { N: '1' },
    number: { N: '-12345678901234567890.123456789' },
    bytes: { B: new Uint8Array([0, 1, 255]) },
    flag: { BOOL: false },
    nothing: { NULL: true },
    list: { L: [{ S: 'x' }, { M: { deep: { N: '1' } } }] },
    binaries: { BS: [new Uint8Array([1])] },
    empty: { S: '' },
  }
  await client.send(new PutItemCommand({ TableName, Item }))
  const answer = await client.send(
    new GetItemCommand({ TableName, Key: { pk: Item.pk, sk: Item.sk }, ConsistentRead: true }),
  )
  assert.deepEqual(answer.Item, Item)
})

test('updates return what was asked for, and deletes the old item', async () => {
  const Key = { pk: { S: 'update' }, sk: { N: '1' } }
  const updated = await client.send(
    new UpdateItemCommand({
      TableName,
      Key,
      UpdateExpression: 'ADD #hits :one SET #list = list_append(if_not_exists(#list, :none), :entry)',
      ExpressionAttributeNames: { '#hits': 'hits', '#list': 'list' },
      ExpressionAttributeValues: { ':one': { N: '1' }, ':none': { L: [] }, ':entry': { L: [{ S: 'first' }] } },
      ReturnValues: 'UPDATED_NEW',
    }),
  )
  assert.deepEqual(updated.Attributes, { hits: { N: '1' }, list: { L: [{ S: 'first' }] } })
  const deleted = await client.send(new DeleteItemCommand({ TableName, Key, ReturnValues: 'ALL_OLD' }))
  assert.deepEqual(deleted.Attributes.hits, { N: '1' })
})

test('a failed condition is an exception with the item', async () => {
  const Item = { pk: { S: 'taken' }, sk: { N: '1' } }
  await client.send(new PutItemCommand({ TableName, Item }))
  const again = new PutItemCommand({
    TableName,
    Item,
    ConditionExpression: 'attribute_not_exists(pk)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  })
  await assert.rejects(client.send(again), (error) => {
    assert.ok(error instanceof ConditionalCheckFailedException)
    assert.equal(error.message, 'The conditional request failed')
    assert.deepEqual(error.Item, Item)
    assert.equal(error.$metadata.httpStatusCode, 400)
    assert.match(error.$metadata.requestId, /^[0-9A-Z]{52}$/)
    return true
  })
})

test('a missing table is an exception of its own', async () => {
  await assert.rejects(client.send(new DescribeTableCommand({ TableName: 'no-such-table' })), (error) => {
    assert.ok(error instanceof ResourceNotFoundException)
    assert.equal(error.message, 'Requested resource not found: Table: no-such-table not found')
    return true
  })
})

test('batches write and read', async () => {
  const puts = Array.from({ length: 25 }, (_, number) => ({
    PutRequest: { Item: { pk: { S: 'batch' }, sk: { N: `${number}` }, color: { S: number % 2 ? 'red' : 'blue' } } },
  }))
  const written = await client.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: puts } }))
  assert.deepEqual(written.UnprocessedItems, {})
  const Keys = [3, 4, 99].map((number) => ({ pk: { S: 'batch' }, sk: { N: `${number}` } }))
  const read = await client.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys } } }))
  assert.equal(read.Responses[TableName].length, 2)
})

test('paginators join all pages', async () => {
  const query = {
    TableName,
    IndexName: 'byColor',
    KeyConditionExpression: 'color = :c',
    ExpressionAttributeValues: { ':c': { S: 'red' } },
  }
  const numbers = []
  for await (const page of paginateQuery({ client, pageSize: 5 }, { ...query }))
    numbers.push(...page.Items.map((item) => Number(item.sk.N)))
  assert.deepEqual(numbers, [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23])
  let count = 0
  for await (const page of paginateScan({ client, pageSize: 4 }, { TableName })) count += page.Count
  const all = await client.send(
    new QueryCommand({
      ...query,
      IndexName: undefined,
      KeyConditionExpression: 'pk = :c',
      ExpressionAttributeValues: { ':c': { S: 'batch' } },
    }),
  )
  assert.ok(count >= all.Count && all.Count === 25)
  const tables = []
  for await (const page of paginateListTables({ client, pageSize: 1 }, {})) tables.push(...page.TableNames)
  assert.ok(tables.includes(TableName))
})

test('transactions are all or nothing', async () => {
  const put = (key, more = {}) => ({ Put: { TableName, Item: { pk: { S: key }, sk: { N: '1' } }, ...more } })
  await client.send(new TransactWriteItemsCommand({ TransactItems: [put('t1'), put('t2')] }))
  const impossible = put('t1', { ConditionExpression: 'attribute_not_exists(pk)' })
  const failing = new TransactWriteItemsCommand({ TransactItems: [put('t3'), impossible] })
  await assert.rejects(client.send(failing), (error) => {
    assert.ok(error instanceof TransactionCanceledException)
    assert.deepEqual(
      error.CancellationReasons.map((reason) => reason.Code),
      ['None', 'ConditionalCheckFailed'],
    )
    assert.match(error.message, /\[None, ConditionalCheckFailed\]$/)
    return true
  })
  const get = (key) => ({ Get: { TableName, Key: { pk: { S: key }, sk: { N: '1' } } } })
  const read = await client.send(new TransactGetItemsCommand({ TransactItems: [get('t2'), get('t3')] }))
  assert.deepEqual(read.Responses, [{ Item: { pk: { S: 't2' }, sk: { N: '1' } } }, {}])
})

test('PartiQL statements, batches and transactions', async () => {
  await client.send(
    new ExecuteStatementCommand({
      Statement: `INSERT INTO "${TableName}" VALUE {'pk': ?, 'sk': ?, 'note': 'new'}`,
      Parameters: [{ S: 'partiql' }, { N: '1' }],
    }),
  )
  await client.send(
    new ExecuteTransactionCommand({
      TransactStatements: [
        { Statement: `UPDATE "${TableName}" SET note = 'changed' WHERE pk = 'partiql' AND sk = 1` },
      ],
    }),
  )
  const batch = await client.send(
    new BatchExecuteStatementCommand({
      Statements: [
        { Statement: `SELECT note FROM "${TableName}" WHERE pk = 'partiql' AND sk = 1` },
        { Statement: `SELECT note FROM "${TableName}" WHERE pk = 'partiql' AND sk = 2` },
      ],
    }),
  )
  assert.deepEqual(batch.Responses[0].Item, { note: { S: 'changed' } })
  assert.equal(batch.Responses[1].Item, undefined)
})

test('tags, time to live and limits', async () => {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }))
  const ResourceArn = Table.TableArn
  await client.send(new TagResourceCommand({ ResourceArn, Tags: [{ Key: 'team', Value: 'mail' }] }))
  assert.deepEqual((await client.send(new ListTagsOfResourceCommand({ ResourceArn }))).Tags, [
    { Key: 'team', Value: 'mail' },
  ])
  const TimeToLiveSpecification = { AttributeName: 'expires', Enabled: true }
  await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }))
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }))
  assert.deepEqual(TimeToLiveDescription, { TimeToLiveStatus: 'ENABLED', AttributeName: 'expires' })
  assert.equal((await client.send(new DescribeLimitsCommand({}))).TableMaxReadCapacityUnits, 40000)
})

test('a table goes away', async () => {
  const name = 'short-lived'
  await client.send(new CreateTableCommand(tableInput(name, 'pk:S')))
  await waitUntilTableExists(patience, { TableName: name })
  await client.send(new DeleteTableCommand({ TableName: name }))
  await waitUntilTableNotExists(patience, { TableName: name })
})
