// The floor of the benchmark: the same loop with the same libraries and no rules. A Koa handler, one group-committed
// insert, a publish through Aedes, the device's ack, one update with one delivery row, one POST, one delete.
// Prints {"http":port,"mqtt":port} when it listens. Arguments: data folder, URL of the webhook receiver.
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Aedes, type Client } from 'aedes';
import Sqlite from 'better-sqlite3';
import Koa from 'koa';
import { Pool } from 'undici';

const [folder = '', receiver = ''] = process.argv.slice(2);

const database = new Sqlite(join(folder, 'floor.db'));
database.pragma('journal_mode = wal');
database.pragma('synchronous = FULL');
database.exec(`CREATE TABLE transactions (id INTEGER PRIMARY KEY AUTOINCREMENT, device TEXT, parameters TEXT, status TEXT);
  CREATE TABLE deliveries (id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT)`);
const insertTransaction = database.prepare(
  `INSERT INTO transactions (device, parameters, status) VALUES (?, ?, 'queued')`,
);
const updateTransaction = database.prepare('UPDATE transactions SET status = ? WHERE id = ?');
const insertDelivery = database.prepare('INSERT INTO deliveries (body) VALUES (?)');
const deleteDelivery = database.prepare('DELETE FROM deliveries WHERE id = ?');
const begin = database.prepare('BEGIN IMMEDIATE');
const commit = database.prepare('COMMIT');

let waiting: (() => () => void)[] = [];
/** Runs `work` in a commit that is shared with what arrives in the same turn of the event loop; then what it answers. */
function inCommit(work: () => () => void): void {
  waiting.push(work);
  if (waiting.length > 1) return;
  setImmediate(() => {
    const batch = waiting;
    waiting = [];
    begin.run();
    const answers = batch.map((unit) => unit());
    commit.run();
    for (const answer of answers) answer();
  });
}

const target = new URL(receiver);
const pool = new Pool(target.origin, { connections: 64 });
async function deliver(id: number | bigint, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await pool.request({ method: 'POST', path: target.pathname, headers, body });
  await answer.body.dump();
  inCommit(() => {
    deleteDelivery.run(id);
    return () => undefined;
  });
}

const broker = await Aedes.createBroker({
  authorizePublish(_client, packet, callback) {
    const ack = JSON.parse(packet.payload.toString()) as { transactionId: number; status: string };
    inCommit(() => {
      updateTransaction.run(ack.status, ack.transactionId);
      const body = JSON.stringify({ type: `transaction.${ack.status}`, data: { transaction: ack } });
      const id = insertDelivery.run(body).lastInsertRowid;
      return () => {
        callback(null);
        void deliver(id, body);
      };
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
    inCommit(() => {
      const id = Number(insertTransaction.run(device, JSON.stringify(networks)).lastInsertRowid);
      return () => {
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
      };
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
