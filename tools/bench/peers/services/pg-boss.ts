// A service of Fastify, Mosquitto and pg-boss on PostgreSQL, as a careful team writes it.
//
// A command is a deferred job before the caller gets 201. It is published at once; the job is what publishes it again until
// the device has answered. One transaction removes this job and adds that of the signed webhook, before the broker gets the
// PUBACK of the answer. Both have the id of the transaction, so a repeated answer adds no second webhook.
import { randomUUID } from 'node:crypto';
import { type JobResult, PgBoss } from 'pg-boss';
import {
  AGAIN_SECONDS,
  type Command,
  config,
  createPublisher,
  onAnswers,
  type Result,
  sendWebhook,
  serve,
  WEBHOOKS_AT_ONCE,
} from './parts.ts';

const CONNECTIONS = 20;
/** The workers that fetch webhooks, each of them a batch at a time. */
const FETCHERS = 4;

// A job whose service was killed is taken over when it has expired and supervision looks, which is once a minute if nobody
// says otherwise.
const supervision = { superviseIntervalSeconds: 2, monitorIntervalSeconds: 2 };
const boss = new PgBoss({
  connectionString: config.store,
  max: CONNECTIONS,
  ...supervision,
});
boss.on('error', () => undefined); // it connects again
await boss.start();
const jobs = { retryLimit: 1_000, retryDelay: 1, expireInSeconds: 5 };
await boss.createQueue('commands', jobs);
await boss.createQueue('webhooks', { ...jobs, retryBackoff: true, retryDelayMax: 60 });
const publish = createPublisher();

await boss.work<Command>('commands', { pollingIntervalSeconds: 0.5, batchSize: 100 }, async (batch) => {
  await Promise.all(batch.map((job) => publish(job.id, job.data)));
  // Without an answer in time, each of these jobs begins again.
  throw new Error('no answer yet');
});

const deliver = async (job: { id: string; data: Result }): Promise<JobResult> => {
  try {
    await sendWebhook(job.data);
    return { id: job.id, status: 'completed' };
  } catch (error) {
    return { id: job.id, status: 'failed', output: { message: String(error) } };
  }
};
const webhookWorkers = {
  perJobResults: true,
  pollingIntervalSeconds: 0.5,
  batchSize: WEBHOOKS_AT_ONCE / FETCHERS,
  localConcurrency: FETCHERS,
} as const;
const webhookWorker = await boss.work<Result, unknown, typeof webhookWorkers>('webhooks', webhookWorkers, (batch) =>
  Promise.all(batch.map(deliver)),
);

await onAnswers(async (result) => {
  const { transactionId } = result;
  const transaction = await boss.getDb().beginTransaction!();
  try {
    await boss.send('webhooks', result, { id: transactionId, db: transaction.db });
    await boss.deleteJob('commands', transactionId, { db: transaction.db });
    await transaction.commit();
    // It works in this process, so it needs no NOTIFY of PostgreSQL, which lets commits wait for one another.
    boss.notifyWorker(webhookWorker);
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
});

await serve(async (command) => {
  const transactionId = randomUUID();
  await boss.send('commands', command, { id: transactionId, startAfter: AGAIN_SECONDS });
  void publish(transactionId, command).catch(() => undefined); // the job publishes it again
  return transactionId;
});
process.once('SIGTERM', () => process.exit(0));
