// A service of Fastify, Mosquitto and DBOS on PostgreSQL, as its documents show it: the loop is a durable workflow.
//
// The workflow is stored before the caller gets 201. It publishes the command again until the device's answer is there,
// which is a message to the workflow; the broker gets the PUBACK of the answer after the message is stored. The signed
// webhook is a step that DBOS repeats until the receiver has taken it.
import { randomUUID } from 'node:crypto';
import { DBOS } from '@dbos-inc/dbos-sdk';
import {
  AGAIN_SECONDS,
  type Command,
  config,
  createPublisher,
  onAnswers,
  type Result,
  sendWebhook,
  serve,
} from './parts.ts';

const CONNECTIONS = 20;
const publish = createPublisher();

async function loop(transactionId: string, command: Command): Promise<void> {
  let result: Result | null = null;
  while (result === null) {
    await DBOS.runStep(() => publish(transactionId, command), { name: 'publish' });
    result = await DBOS.recv<Result>('answer', AGAIN_SECONDS);
  }
  const answer = result;
  await DBOS.runStep(() => sendWebhook(answer), {
    name: 'webhook',
    retriesAllowed: true,
    maxAttempts: 100,
    intervalSeconds: 0.1,
    backoffRate: 1.5,
  });
}
// The usual bound of recoveries would give up a workflow whose service is killed a hundred times.
const workflow = DBOS.registerWorkflow(loop, { name: 'loop', maxRecoveryAttempts: 1_000 });

const silent = (): void => undefined;
DBOS.setConfig({
  name: 'peer',
  systemDatabaseUrl: config.store,
  systemDatabasePoolSize: CONNECTIONS,
  applicationVersion: 'bench',
  logger: { info: silent, debug: silent, warn: silent, error: silent },
});
await DBOS.launch();

// The key makes a repeated answer the same message.
await onAnswers((result) => DBOS.send(result.transactionId, result, 'answer', result.transactionId));

await serve(async (command) => {
  const transactionId = randomUUID();
  await DBOS.startWorkflow(workflow, { workflowID: transactionId })(transactionId, command);
  return transactionId;
});
process.once('SIGTERM', () => process.exit(0));
