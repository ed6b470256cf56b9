// OneTable, on `postino dynamodb`: models in a single table, with indexes, batches, transactions and pages.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { Table } from 'dynamodb-onetable'
import { Dynamo } from 'dynamodb-onetable/Dynamo'
import { dynamodb, startPostino } from './postino.js'

const schema = {
  format: 'onetable:1.1.0',
  version: '0.0.1',
  indexes: { primary: { hash: 'pk', sort: 'sk' }, gs1: { hash: 'gs1pk', sort: 'gs1sk', follow: true } },
  models: {
    Account: {
      pk: { type: String, value: 'account:${name}' },
      sk: { type: String, value: 'account:' },
      name: { type: String, required: true },
      balance: { type: Number, default: 0 },
    },
    User: {
      pk: { type: String, value: 'account:${account}' },
      sk: { type: String, value: 'user:${email}' },
      account: { type: String, required: true },
      email: { type: String, required: true, unique: true },
      role: { type: String, enum: ['user', 'admin'], default: 'user' },
      address: { type: Object, schema: { city: { type: String }, zip: { type: String } } },
      visits: { type: Number, default: 0 },
      gs1pk: { type: String, value: 'role:${role}' },
      gs1sk: { type: String, value: 'user:${email}' },
    },
  },
  params: { isoDates: true, timestamps: true },
}

const client = new Dynamo({ client: new DynamoDBClient(await startPostino(dynamodb)) })
const table = new Table({ name: 'OneTable', client, schema, partial: true })
await table.createTable()
const Account = table.getModel('Account')
const User = table.getModel('User')

test('models are created once, found, updated and removed', async () => {
  await Account.create({ name: 'acme' })
  const user = await User.create({ account: 'acme', email: 'a@acme.example', address: { city: 'Bonn', zip: '53111' } })
  assert.equal(user.role, 'user')
  await assert.rejects(User.create({ account: 'acme', email: 'a@acme.example' }), { code: 'UniqueError' })
  const moved = await User.update({ account: 'acme', email: 'a@acme.example', address: { city: 'Köln' } }, { return: 'get' })
  assert.deepEqual(moved.address, { city: 'Köln', zip: '53111' })
  const counted = await User.update({ account: 'acme', email: 'a@acme.example' }, { add: { visits: 2 }, return: 'get' })
  assert.equal(counted.visits, 2)
  await assert.rejects(Account.create({ name: 'acme' }), /ConditionalCheck|exist/i)
  await User.remove({ account: 'acme', email: 'a@acme.example' })
  assert.equal(await User.get({ account: 'acme', email: 'a@acme.example' }), undefined)
  await User.create({ account: 'acme', email: 'a@acme.example' })
})

test('batches, indexes and pages', async () => {
  const batch = {}
  for (let number = 0; number < 20; ++number)
    await Account.create({ name: `batch-${String(number).padStart(2, '0')}`, balance: number }, { batch })
  await table.batchWrite(batch)
  assert.equal((await Account.scan({}, { where: '${balance} >= {10}' })).length, 10)

  for (let number = 0; number < 7; ++number)
    await User.create({ account: 'paged', email: `${number}@paged.example`, role: 'admin' })
  const found = []
  let next
  do {
    const page = await User.find({ role: 'admin' }, { index: 'gs1', limit: 3, next })
    found.push(...page.map((user) => user.email))
    next = page.next
  } while (next)
  assert.deepEqual(
    found,
    Array.from({ length: 7 }, (_, number) => `${number}@paged.example`),
  )
})

test('a transaction is done as a whole or not at all', async () => {
  const transaction = {}
  await Account.update({ name: 'batch-01' }, { set: { balance: '${balance} - {1}' }, transaction })
  await Account.update({ name: 'batch-02' }, { set: { balance: '${balance} + {1}' }, transaction })
  await table.transact('write', transaction)
  assert.equal((await Account.get({ name: 'batch-02' })).balance, 3)

  const refused = {}
  await Account.update({ name: 'batch-01' }, { set: { balance: '${balance} + {100}' }, transaction: refused })
  await Account.update({ name: 'missing' }, { set: { balance: '${balance} + {1}' }, transaction: refused })
  await assert.rejects(table.transact('write', refused))
  assert.equal((await Account.get({ name: 'batch-01' })).balance, 0)
})
