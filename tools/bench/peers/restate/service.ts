// A service of Fastify, Mosquitto and Restate, as its documents show it: the loop is a workflow on Restate's server.
//
// The server has stored the workflow before the caller gets 201. The workflow publishes the command again until the
// device's answer is there, which is a durable promise; the broker gets the PUBACK of the answer after the server has it.
// The signed webhook is a step that Restate repeats until the receiver has taken it.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http2';
import { setTimeout as pause } from 'node:timers/promises';
import {
  createEndpointHandler,
  TimeoutError,
  type WorkflowContext,
  type WorkflowSharedContext,
  workflow,
} from '@restatedev/restate-sdk';
import { Pool } from 'undici';
import {
  AGAIN_SECONDS,
  type Command,
  config,
  createPublisher,
  onAnswers,
  type Result,
  sendWebhook,
  serve,
} from '../services/parts.ts';

const CONNECTIONS = 128;
const publish = createPublisher();

async function run(ctx: WorkflowContext, command: Command): Promise<void> {
  let result: Result | undefined;
  while (result === undefined) {
    await ctx.run('publish', () => publish(ctx.key, command));
    try {
      result = await ctx.promise<Result>('answer').get().orTimeout({ seconds: AGAIN_SECONDS });
    } catch (error) {
      if (!(error instanceof TimeoutError)) throw error;
    }
  }
  const answer = result;
  const retries = { initialRetryInterval: 100, maxRetryInterval: 60_000, maxRetryDuration: { hours: 24 } };
  await ctx.run('webhook', () => sendWebhook(answer), retries);
}

const loop = workflow({
  name: 'loop',
  handlers: {
    run,
    answer: async (ctx: WorkflowSharedContext, result: Result): Promise<void> => {
      if ((await ctx.promise<Result>('answer').peek()) === undefined)
        await ctx.promise<Result>('answer').resolve(result);
    },
  },
});

const store = new URL(config.store);
const portOf = (name: string): number => Number(store.searchParams.get(name));
const ingress = new Pool(store.origin, { connections: CONNECTIONS });

/** Calls a handler of the workflow; throws unless the server has taken it. */
async function call(path: string, body: object): Promise<void> {
  const answer = await ingress.request({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await answer.body.dump();
  if (answer.statusCode >= 300) throw new Error(`${path}: ${answer.statusCode}`);
}

const endpoint = createServer(createEndpointHandler({ services: [loop] }));
endpoint.listen(portOf('endpoint'), '127.0.0.1');
for (let registered = false; !registered; ) {
  try {
    const answer = await fetch(`http://127.0.0.1:${portOf('admin')}/deployments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ uri: `http://127.0.0.1:${portOf('endpoint')}` }),
    });
    registered = answer.ok || answer.status === 409; // 409: it is registered since an earlier start
  } catch {} // the server does not listen yet
  if (!registered) await pause(50);
}

await onAnswers((result) => call(`/loop/${result.transactionId}/answer`, result));

await serve(async (command) => {
  const transactionId = randomUUID();
  await call(`/loop/${transactionId}/run/send`, command);
  return transactionId;
});
process.once('SIGTERM', () => process.exit(0));
