// The floor of the benchmark: the same loop with the same libraries and no rules. A Koa handler, one group-committed
// insert, a publish through Aedes, the device's ack, one update with one delivery row, one POST, one delete.
// Prints {"http":port,"mqtt":port} when it listens. Arguments: data folder or URL of a PostgreSQL database, URL of the
// webhook receiver.
import { createServer } from 'node:net';
import { Aedes, type Client } from 'aedes';
import Koa from 'koa';
import { Pool } from 'undici';
import { openFloorDatabase, type Write } from './floor-database.ts';

const [place = '', receiver = ''] = process.argv.slice(2);

const database = await openFloorDatabase(place);

interface Asked {
  write: Write;
  done(number: number): void;
}
let waiting: Asked[] = [];
let committing = false;

function schedule(): void {
  setImmediate(() => void commitAll());
}

async function commitAll(): Promise<void> {
  const batch = waiting;
  waiting = [];
  committing = true;
  const numbers = await database.commit(batch.map(({ write }) => write));
  for (const [index, { done }] of batch.entries()) done(numbers[index] ?? 0);
  committing = false;
  if (waiting.length > 0) schedule();
}

/** Adds a write to the commit that all writes of this turn of the event loop share; calls `done` after the commit. */
function inCommit(write: Write, done: (number: number) => void): void {
  waiting.push({ write, done });
  if (waiting.length === 1 && !committing) schedule();
}

const target = new URL(receiver);
const pool = new Pool(target.origin, { connections: 64 });
async function deliver(id: number, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await pool.request({ method: 'POST', path: target.pathname, headers, body });
  await answer.body.dump();
  inCommit({ kind: 'sent', id }, () => undefined);
}

const broker = await Aedes.createBroker({
  authorizePublish(_client, packet, callback) {
    const ack = JSON.parse(packet.payload.toString()) as { transactionId: number; status: string };
    const body = JSON.stringify({ type: `transaction.${ack.status}`, data: { transaction: ack } });
    inCommit({ kind: 'settle', id: ack.transactionId, status: ack.status, body }, (id) => {
      callback(null);
      void deliver(id, body);
    });
  },
});
const mqtt = createServer({ noDelay: true }, broker.handle);

const app = new Koa();
app.use(async (ctx) => {
  const chunks: Buffer[] = [];
  for await (const chunk of ctx.req) chunks.push(chunk as Buffer);
  const device = ctx.path.split('/')[5] ?? '';
  const networks = JSON.parse(Buffer.concat(chunks).toString()) as object[];
  const transactionId = await new Promise<number>((resolve) => {
    inCommit({ kind: 'insert', device, parameters: JSON.stringify(networks) }, (id) => {
      const command = { transactionId: id, operation: 'setWifi', parameters: { networks }, attempt: 1 };
      const client = (broker as unknown as { clients: Record<string, Client | undefined> }).clients[device];
      const packet = {
        cmd: 'publish',
        topic: `devices/${device}/commands`,
        payload: JSON.stringify(command),
        qos: 1,
      };
      client?.publish(packet as Parameters<Client['publish']>[0], () => undefined);
      resolve(id);
    });
  });
  ctx.status = 201;
  ctx.body = { transactionId };
});
const http = app.listen(0, '127.0.0.1', () => {
  mqtt.listen(0, '127.0.0.1', () => {
    const port = (server: { address(): unknown }): number => (server.address() as { port: number }).port;
    console.log(JSON.stringify({ http: port(http), mqtt: port(mqtt) }));
  });
});
process.once('SIGTERM', () => process.exit(0));
