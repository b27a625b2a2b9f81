// A service of Fastify, Mosquitto and BullMQ on Redis, as a careful team writes it.
//
// A command is a delayed job before the caller gets 201. It is published at once; the job is what publishes it again until
// the device has answered. The answer is a job, too, before the broker gets its PUBACK; this job is the signed webhook with
// its retries. Jobs have the id of the transaction, so a repeated answer adds none.
import { randomUUID } from 'node:crypto';
import { DelayedError, type Job, Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
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

const AGAIN = AGAIN_SECONDS * 1000;
/** Results are kept for an hour, so that an answer that comes again in this time adds no second webhook. */
const KEPT = { age: 3600 };

// Workers wait for Redis as long as it takes, callers do not (docs.bullmq.io, "Going to production").
const forWorkers = { url: config.store, maxRetriesPerRequest: null, retryStrategy: () => 100 };
const forCallers = { url: config.store, maxRetriesPerRequest: 1, retryStrategy: () => 100 };
const connect = ({ url, ...options }: typeof forWorkers | typeof forCallers): Redis => {
  const redis = new Redis(url, options);
  redis.on('error', () => undefined); // it connects again
  return redis;
};

const shared = connect(forCallers);
const commands = new Queue<Command>('commands', { connection: shared });
const webhooks = new Queue<Result>('webhooks', { connection: shared });
const publish = createPublisher();

// A job whose service was killed is taken over after the duration of its lock. The usual bound of one such takeover in the
// life of a job would lose jobs when the service is killed twice.
const takeover = { lockDuration: 5_000, stalledInterval: 2_000, maxStalledCount: 1_000 };

const publishAgain = async (job: Job<Command>, token?: string): Promise<void> => {
  const transactionId = job.id ?? '';
  if ((await webhooks.getJob(transactionId)) !== undefined) return; // the answer came meanwhile
  await publish(transactionId, job.data);
  await job.moveToDelayed(Date.now() + AGAIN, token);
  throw new DelayedError();
};
const workers = [
  new Worker<Command>('commands', publishAgain, {
    connection: connect(forWorkers),
    concurrency: WEBHOOKS_AT_ONCE,
    ...takeover,
  }),
  new Worker<Result>('webhooks', (job) => sendWebhook(job.data), {
    connection: connect(forWorkers),
    concurrency: WEBHOOKS_AT_ONCE,
    ...takeover,
  }),
];
const ignore = (): void => undefined; // all of them go on by themselves
for (const worker of workers) worker.on('error', ignore);
commands.on('error', ignore);
webhooks.on('error', ignore);

await onAnswers(async (result) => {
  const { transactionId } = result;
  await webhooks.add('result', result, {
    jobId: transactionId,
    attempts: 100,
    backoff: { type: 'exponential', delay: 100, jitter: 0.5 },
    removeOnComplete: KEPT,
  });
  // When this fails, the worker of the commands sees later that the answer is there.
  void commands.remove(transactionId).catch(() => undefined);
});

await serve(async (command) => {
  const transactionId = randomUUID();
  await commands.add('command', command, { jobId: transactionId, delay: AGAIN, removeOnComplete: true, attempts: 100 });
  void publish(transactionId, command).catch(() => undefined); // the job publishes it again
  return transactionId;
});
process.once('SIGTERM', () => process.exit(0));
