// The document client, and streams read with the client for streams.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams'
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  ExecuteStatementCommand,
  GetCommand,
  NumberValue,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactGetCommand,
  TransactWriteCommand,
  UpdateCommand,
  paginateScan,
} from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { startPostino, tableInput } from './postino.js'

const configuration = await startPostino()
const client = new DynamoDBClient(configuration)
const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } })
const streams = new DynamoDBStreamsClient(configuration)
const TableName = 'documents'
const stream = { StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } }

await client.send(new CreateTableCommand(tableInput(TableName, 'pk:S sk:N', {}, stream)))
await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName })

test('JavaScript values come back', async () => {
  const Item = {
    pk: 'values',
    sk: 1,
    text: 'perché no? \u{1f4ec}',
    half: 0.5,
    yes: true,
    nothing: null,
    list: [1, 'two', [3], { four: 4 }],
    nested: { deep: { deeper: ['x'] } },
    strings: new Set(['a', 'b']),
    numbers: new Set([1, 2.5]),
    bytes: new Uint8Array([0, 255]),
    missing: undefined,
  }
  await documents.send(new PutCommand({ TableName, Item }))
  const read = await documents.send(new GetCommand({ TableName, Key: { pk: 'values', sk: 1 }, ConsistentRead: true }))
  const { missing, ...stored } = Item
  assert.deepEqual(read.Item, stored)
})

test('numbers beyond double precision are kept exactly', async () => {
  const exact = '12345678901234567890.123456789012345678'
  await documents.send(new PutCommand({ TableName, Item: { pk: 'exact', sk: 1, n: NumberValue.from(exact) } }))
  const wide = DynamoDBDocumentClient.from(new DynamoDBClient(configuration), {
    unmarshallOptions: { wrapNumbers: true },
  })
  const read = await wide.send(new GetCommand({ TableName, Key: { pk: 'exact', sk: NumberValue.from('1.0') } }))
  assert.equal(read.Item.n.toString(), exact)
})

test('query, scan, update and delete', async () => {
  const puts = Array.from({ length: 20 }, (_, sk) => ({
    PutRequest: { Item: { pk: 'many', sk, even: sk % 2 === 0 } },
  }))
  await documents.send(new BatchWriteCommand({ RequestItems: { [TableName]: puts } }))
  const query = await documents.send(
    new QueryCommand({
      TableName,
      KeyConditionExpression: 'pk = :p AND sk BETWEEN :a AND :b',
      FilterExpression: 'even = :yes',
      ExpressionAttributeValues: { ':p': 'many', ':a': 5, ':b': 15, ':yes': true },
      ScanIndexForward: false,
    }),
  )
  assert.deepEqual(
    query.Items.map((item) => item.sk),
    [14, 12, 10, 8, 6],
  )
  assert.equal(query.ScannedCount, 11)
  const updated = await documents.send(
    new UpdateCommand({
      TableName,
      Key: { pk: 'many', sk: 0 },
      UpdateExpression: 'SET even = :no REMOVE absent',
      ConditionExpression: 'even = :yes',
      ExpressionAttributeValues: { ':yes': true, ':no': false },
      ReturnValues: 'ALL_NEW',
    }),
  )
  assert.deepEqual(updated.Attributes, { pk: 'many', sk: 0, even: false })
  await documents.send(new DeleteCommand({ TableName, Key: { pk: 'many', sk: 1 } }))
  const Keys = [0, 1, 2].map((sk) => ({ pk: 'many', sk }))
  const batch = await documents.send(new BatchGetCommand({ RequestItems: { [TableName]: { Keys } } }))
  assert.deepEqual(batch.Responses[TableName].map((item) => item.sk).sort(), [0, 2])
  const scan = { TableName, FilterExpression: 'pk = :p', ExpressionAttributeValues: { ':p': 'many' } }
  let count = 0
  for await (const page of paginateScan({ client: documents, pageSize: 3 }, { ...scan })) count += page.Count
  assert.equal(count, 19)
  assert.equal((await documents.send(new ScanCommand({ ...scan, Select: 'COUNT' }))).Count, 19)
})

test('transactions and statements take plain values', async () => {
  await documents.send(
    new TransactWriteCommand({
      TransactItems: [
        { Put: { TableName, Item: { pk: 'plain', sk: 1, tags: new Set(['x']) } } },
        {
          Update: {
            TableName,
            Key: { pk: 'plain', sk: 2 },
            UpdateExpression: 'ADD hits :n',
            ExpressionAttributeValues: { ':n': 3 },
          },
        },
      ],
    }),
  )
  const read = await documents.send(
    new TransactGetCommand({ TransactItems: [1, 2].map((sk) => ({ Get: { TableName, Key: { pk: 'plain', sk } } })) }),
  )
  assert.deepEqual(
    read.Responses.map((response) => response.Item),
    [
      { pk: 'plain', sk: 1, tags: new Set(['x']) },
      { pk: 'plain', sk: 2, hits: 3 },
    ],
  )
  const selected = await documents.send(
    new ExecuteStatementCommand({
      Statement: `SELECT hits FROM "${TableName}" WHERE pk = ? AND sk = ?`,
      Parameters: ['plain', 2],
    }),
  )
  assert.deepEqual(selected.Items, [{ hits: 3 }])
})

test('changes are read from the stream', async () => {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }))
  const listed = await streams.send(new ListStreamsCommand({ TableName }))
  assert.deepEqual(
    listed.Streams.map((each) => each.StreamArn),
    [Table.LatestStreamArn],
  )
  const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn: Table.LatestStreamArn }))
  const positions = []
  for (const { ShardId } of StreamDescription.Shards) {
    const input = { StreamArn: Table.LatestStreamArn, ShardId, ShardIteratorType: 'LATEST' }
    positions.push((await streams.send(new GetShardIteratorCommand(input))).ShardIterator)
  }
  await documents.send(new PutCommand({ TableName, Item: { pk: 'streamed', sk: 1, v: 'old' } }))
  await documents.send(new PutCommand({ TableName, Item: { pk: 'streamed', sk: 1, v: 'new' } }))
  await documents.send(new DeleteCommand({ TableName, Key: { pk: 'streamed', sk: 1 } }))
  const records = []
  for (const ShardIterator of positions)
    records.push(...(await streams.send(new GetRecordsCommand({ ShardIterator }))).Records)
  assert.deepEqual(
    records.map((record) => record.eventName),
    ['INSERT', 'MODIFY', 'REMOVE'],
  )
  assert.deepEqual(unmarshall(records[1].dynamodb.OldImage), { pk: 'streamed', sk: 1, v: 'old' })
  assert.deepEqual(unmarshall(records[1].dynamodb.NewImage), { pk: 'streamed', sk: 1, v: 'new' })
  assert.ok(records[0].dynamodb.ApproximateCreationDateTime instanceof Date)
})
