// A server for a test file: started on a free port with data of its own, ended when the tests of the file are over.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'

const binary = process.env.POSTINO ?? fileURLToPath(new URL('../../../build/postino', import.meta.url))

const serve = (data) => ['serve', '--data', data, '--dynamodb', '127.0.0.1:0', '--no-outbox']
// In the place of DynamoDB Local.
export const dynamodb = (data) => ['dynamodb', '-port', '0', '-dbPath', data]

// The configuration that SDK clients need to reach it. `command` starts it on the data in a directory.
export async function startPostino(command = serve) {
  const directory = await mkdtemp(join(tmpdir(), 'postino-js-'))
  const server = spawn(binary, command(join(directory, 'data')), {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => server.once('exit', (code) => resolve(code)))
  after(async () => {
    server.kill('SIGTERM')
    assert.equal(await ended, 0, 'the server ends in peace')
    await rm(directory, { recursive: true })
  })
  const endpoint = await new Promise((resolve, reject) => {
    createInterface({ input: server.stdout }).on('line', (line) => {
      const ready = /DynamoDB API: (http:\S+)/.exec(line)
      if (ready) resolve(ready[1])
    })
    ended.then((code) => reject(new Error(`the server ended with ${code} before it was ready`)))
  })
  return {
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'postino', secretAccessKey: 'secret' },
    maxAttempts: 1,
  }
}

// The name without and the type after the colon, for example 'pk:S'.
function parts(keys) {
  return keys.split(' ').map((part) => part.split(':'))
}

function keySchema(keys) {
  return parts(keys).map(([name], position) => ({ AttributeName: name, KeyType: position ? 'RANGE' : 'HASH' }))
}

// The input of CreateTableCommand for keys such as 'pk:S sk:N' and global indexes by name.
export function tableInput(TableName, keys, indexes = {}, more = {}) {
  const types = Object.fromEntries([keys, ...Object.values(indexes)].flatMap(parts))
  const input = {
    TableName,
    KeySchema: keySchema(keys),
    AttributeDefinitions: Object.entries(types).map(([AttributeName, AttributeType]) => ({
      AttributeName,
      AttributeType,
    })),
    BillingMode: 'PAY_PER_REQUEST',
    ...more,
  }
  if (Object.keys(indexes).length)
    input.GlobalSecondaryIndexes = Object.entries(indexes).map(([IndexName, index]) => ({
      IndexName,
      KeySchema: keySchema(index),
      Projection: { ProjectionType: 'ALL' },
    }))
  return input
}
