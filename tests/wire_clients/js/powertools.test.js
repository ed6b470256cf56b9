// Lambda Powertools: a function that must not run twice for one request, with its records in the server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  IdempotencyAlreadyInProgressError,
  IdempotencyConfig,
  IdempotencyValidationError,
  makeIdempotent,
} from '@aws-lambda-powertools/idempotency'
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb'
import { CreateTableCommand, DynamoDBClient, ScanCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb'
import { startPostino, tableInput } from './postino.js'

const client = new DynamoDBClient(await startPostino())
const TableName = 'idempotency'
await client.send(new CreateTableCommand(tableInput(TableName, 'id:S')))
await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName })

// A charge that counts how often it is really made; `work` is what it does each time.
function idempotentCharge(work, options = {}) {
  const calls = []
  const charge = makeIdempotent(
    async (payment) => {
      calls.push(payment)
      return work(payment)
    },
    {
      persistenceStore: new DynamoDBPersistenceLayer({ tableName: TableName, awsSdkV3Client: client }),
      config: new IdempotencyConfig({ eventKeyJmesPath: 'id', throwOnNoIdempotencyKey: true, ...options }),
    },
  )
  return { charge, calls }
}

test('the second request gets the answer of the first', async () => {
  const { charge, calls } = idempotentCharge((payment) => ({ receipt: `receipt for ${payment.amount}` }))
  const first = await charge({ id: 'payment-1', amount: 10 })
  const second = await charge({ id: 'payment-1', amount: 10 })
  assert.deepEqual(second, first)
  assert.equal(calls.length, 1)
  await charge({ id: 'payment-2', amount: 20 })
  assert.equal(calls.length, 2)
})

test('a request is refused while the first one is running', async () => {
  let finish
  const { charge, calls } = idempotentCharge(() => new Promise((resolve) => (finish = resolve)))
  const first = charge({ id: 'payment-3' })
  while (!finish) await new Promise(setImmediate)
  await assert.rejects(charge({ id: 'payment-3' }), IdempotencyAlreadyInProgressError)
  finish({ done: true })
  assert.deepEqual(await first, { done: true })
  assert.deepEqual(await charge({ id: 'payment-3' }), { done: true })
  assert.equal(calls.length, 1)
})

test('a failed request can be tried again', async () => {
  let attempts = 0
  const { charge } = idempotentCharge(() => {
    attempts += 1
    if (attempts === 1) throw new Error('the bank is closed')
    return { attempts }
  })
  await assert.rejects(charge({ id: 'payment-4' }), /the bank is closed/)
  assert.deepEqual(await charge({ id: 'payment-4' }), { attempts: 2 })
})

test('another payload under the same key is refused', async () => {
  const { charge } = idempotentCharge((payment) => ({ amount: payment.amount }), {
    payloadValidationJmesPath: 'amount',
  })
  await charge({ id: 'payment-5', amount: 1 })
  await assert.rejects(charge({ id: 'payment-5', amount: 2 }), IdempotencyValidationError)
})

test('an expired record does not count', async () => {
  const { charge, calls } = idempotentCharge(() => ({ ok: true }), { expiresAfterSeconds: -1 })
  await charge({ id: 'payment-6' })
  await charge({ id: 'payment-6' })
  assert.equal(calls.length, 2)
})

test('one of many simultaneous requests runs', async () => {
  const { charge, calls } = idempotentCharge(() => ({ ok: true }))
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => charge({ id: 'payment-7' })))
  assert.equal(calls.length, 1)
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') assert.ok(outcome.reason instanceof IdempotencyAlreadyInProgressError)
    else assert.deepEqual(outcome.value, { ok: true })
})

test('records hold status, expiry and answer', async () => {
  const { Items } = await client.send(new ScanCommand({ TableName }))
  const completed = Items.filter((item) => item.status.S === 'COMPLETED')
  assert.ok(completed.length >= 4)
  for (const item of completed) assert.ok(item.expiration.N && item.data)
})
