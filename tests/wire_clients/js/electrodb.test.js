// ElectroDB: entities and a service in a single table, with collections, patches, conditions and pages.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CreateTableCommand, DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { Entity, Service } from 'electrodb'
import { startPostino, tableInput } from './postino.js'

const client = new DynamoDBClient(await startPostino())
await client.send(new CreateTableCommand(tableInput('desk', 'pk:S sk:S', { gsi1: 'gsi1pk:S gsi1sk:S' })))
await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName: 'desk' })
const configuration = { client: DynamoDBDocumentClient.from(client), table: 'desk' }

const Ticket = new Entity(
  {
    model: { entity: 'ticket', version: '1', service: 'desk' },
    attributes: {
      id: { type: 'string', required: true },
      customer: { type: 'string', required: true },
      status: { type: ['NEW', 'PROCESSING', 'READY'], default: 'NEW' },
      priority: { type: 'number', default: 3 },
      labels: { type: 'set', items: 'string' },
      notes: {
        type: 'list',
        items: { type: 'map', properties: { by: { type: 'string' }, text: { type: 'string' } } },
      },
      version: { type: 'number', default: 1 },
    },
    indexes: {
      primary: { pk: { field: 'pk', composite: ['id'] }, sk: { field: 'sk', composite: [] } },
      byCustomer: {
        index: 'gsi1',
        collection: 'customers',
        pk: { field: 'gsi1pk', composite: ['customer'] },
        sk: { field: 'gsi1sk', composite: ['status', 'id'] },
      },
    },
  },
  configuration,
)

const Invoice = new Entity(
  {
    model: { entity: 'invoice', version: '1', service: 'desk' },
    attributes: {
      number: { type: 'string', required: true },
      customer: { type: 'string', required: true },
      amount: { type: 'number', required: true },
    },
    indexes: {
      primary: { pk: { field: 'pk', composite: ['number'] }, sk: { field: 'sk', composite: [] } },
      byCustomer: {
        index: 'gsi1',
        collection: 'customers',
        pk: { field: 'gsi1pk', composite: ['customer'] },
        sk: { field: 'gsi1sk', composite: ['number'] },
      },
    },
  },
  configuration,
)

const desk = new Service({ ticket: Ticket, invoice: Invoice }, configuration)

test('an entity is created once', async () => {
  const created = await Ticket.create({ id: 't1', customer: 'acme', labels: ['urgent'] }).go()
  assert.equal(created.data.status, 'NEW')
  await assert.rejects(Ticket.create({ id: 't1', customer: 'acme' }).go(), /conditional request failed/i)
  const { data } = await Ticket.get({ id: 't1' }).go({ consistent: true })
  assert.deepEqual(
    { ...data, labels: [...data.labels] },
    { id: 't1', customer: 'acme', status: 'NEW', priority: 3, labels: ['urgent'], version: 1 },
  )
})

test('a patch changes nested values under a condition', async () => {
  await Ticket.create({ id: 't2', customer: 'acme' }).go()
  const patch = () =>
    Ticket.patch({ id: 't2' })
      .add({ labels: ['seen'], version: 1 })
      .append({ notes: [{ by: 'op', text: 'looked at it' }] })
      .subtract({ priority: 1 })
      .where(({ version }, { eq }) => eq(version, 1))
      .go({ response: 'all_new' })
  const { data } = await patch()
  assert.deepEqual([data.version, data.priority, data.notes], [2, 2, [{ by: 'op', text: 'looked at it' }]])
  await assert.rejects(patch(), /conditional request failed/i)
  await assert.rejects(Ticket.patch({ id: 'nobody' }).set({ priority: 1 }).go(), /conditional request failed/i)
})

test('a collection joins entities of a customer', async () => {
  await Ticket.create({ id: 't3', customer: 'initech' }).go()
  await Ticket.create({ id: 't4', customer: 'initech' }).go()
  await Invoice.create({ number: 'i1', customer: 'initech', amount: 99.5 }).go()
  const { data } = await desk.collections.customers({ customer: 'initech' }).go()
  assert.deepEqual(
    data.ticket.map((ticket) => ticket.id),
    ['t3', 't4'],
  )
  assert.deepEqual(
    data.invoice.map((invoice) => invoice.amount),
    [99.5],
  )
})

test('queries filter, page and sort', async () => {
  const tickets = Array.from({ length: 30 }, (_, position) => ({
    id: `q${String(position).padStart(2, '0')}`,
    customer: 'globex',
    status: position % 3 ? 'NEW' : 'READY',
    priority: position % 5,
  }))
  const { unprocessed } = await Ticket.put(tickets).go()
  assert.deepEqual(unprocessed, [])
  const ready = await Ticket.query.byCustomer({ customer: 'globex', status: 'READY' }).go({ order: 'desc' })
  assert.deepEqual(
    ready.data.map((ticket) => ticket.id),
    ['q27', 'q24', 'q21', 'q18', 'q15', 'q12', 'q09', 'q06', 'q03', 'q00'],
  )
  const urgent = await Ticket.query
    .byCustomer({ customer: 'globex' })
    .where(({ priority }, { lt }) => lt(priority, 1))
    .go({ pages: 'all' })
  assert.equal(urgent.data.length, 6)
  const ids = []
  let cursor = null
  do {
    const page = await Ticket.query.byCustomer({ customer: 'globex' }).go({ cursor, limit: 7 })
    ids.push(...page.data.map((ticket) => ticket.id))
    cursor = page.cursor
  } while (cursor)
  assert.equal(new Set(ids).size, 30)
})

test('a transaction writes both or neither', async () => {
  const write = (amount) =>
    desk.transaction
      .write(({ ticket, invoice }) => [
        ticket.patch({ id: 't3' }).set({ status: 'PROCESSING' }).commit(),
        invoice.create({ number: 'i2', customer: 'initech', amount }).commit(),
      ])
      .go()
  assert.equal((await write(1)).canceled, false)
  const second = await write(2)
  assert.equal(second.canceled, true)
  assert.deepEqual(
    second.data.map((result) => result.code),
    ['None', 'ConditionalCheckFailed'],
  )
  assert.equal((await Invoice.get({ number: 'i2' }).go()).data.amount, 1)
})

test('deletes and scans', async () => {
  await Invoice.delete({ number: 'i1' }).go()
  assert.equal((await Invoice.get({ number: 'i1' }).go()).data, null)
  const { data } = await Ticket.scan.where(({ customer }, { eq }) => eq(customer, 'initech')).go({ pages: 'all' })
  assert.deepEqual(data.map((ticket) => ticket.id).sort(), ['t3', 't4'])
})
