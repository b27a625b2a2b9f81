import { answerAfterSending, harmless, stillAnswers } from '../asking.ts';
import { Breach } from '../breach.ts';
import { statusOfNextConnection } from '../effect.ts';
import type { Outbound } from '../outflow.ts';
import type { RuleName } from '../rules.ts';
import type { Stage } from '../stage.ts';
import type { Case } from './case.ts';

/** Sends messages that need no answer. The device must send their PUBACKs, keep its connection, and go on. */
async function bears(
  stage: Stage,
  rule: RuleName,
  topic: Outbound,
  payloads: readonly (string | Buffer)[],
): Promise<undefined> {
  const { service, settings } = stage;
  if (!service.subscriptions.has(topic)) throw new Breach('topics', `a subscription to ${topic}`, 'none');
  for (const payload of payloads) {
    const before = service.logins;
    const [sent] = service.publish(topic, [payload]);
    await service.until(() => sent?.confirmed || !service.isOnline, settings.answerMs);
    const isLost = !service.isOnline || service.logins > before;
    if (!sent?.confirmed || isLost) {
      const came = isLost ? 'the connection ended' : 'no PUBACK';
      throw new Breach(rule, `a PUBACK of the message on ${topic}, and an open connection`, came, {
        isTimed: !isLost,
      });
    }
  }
  await stillAnswers(stage, rule);
}

/** Payloads that are no command, and a command without the members that name it. */
const UNREADABLE: readonly (string | Buffer)[] = [
  '',
  '{"transactionId":',
  'null',
  '[1,2,3]',
  '"activate"',
  Buffer.from([0xff, 0xfe, 0x00, 0x80]),
  '{}',
  '{"transactionId":"one","operation":7,"parameters":[],"issuedAt":null,"attempt":-1}',
  '['.repeat(10_000),
];

async function unreadable(stage: Stage): Promise<string> {
  const { operation, issuedAt, attempt, transactionId } = harmless(stage);
  const withoutParameters = JSON.stringify({ transactionId, operation, issuedAt, attempt });
  await bears(stage, 'unreadable-messages', 'commands', [...UNREADABLE, withoutParameters]);
  return `${UNREADABLE.length + 1} messages`;
}

const errorReport = (stage: Stage): Promise<undefined> =>
  bears(stage, 'error-reports', 'errors', [
    JSON.stringify({
      topic: `devices/${stage.settings.account.deviceId}/status`,
      reason: 'parts of the message were left out.',
      details: [{ loc: ['body', 'battery', 'level'], msg: 'Input should be less than or equal to 100', type: 'x' }],
    }),
  ]);

/** The clock of the service, or of the device, may have shown anything when a command was made. */
const ODD_TIMES = ['1970-01-01T00:00:00.000000Z', '2199-12-31T23:59:59.999999Z'];

async function oddTimes(stage: Stage): Promise<undefined> {
  for (const issuedAt of ODD_TIMES) await answerAfterSending(stage, { ...harmless(stage), issuedAt });
}

const foreignResponse = (stage: Stage): Promise<undefined> =>
  bears(stage, 'requests', 'responses', [
    JSON.stringify({ requestId: 'of-an-earlier-life', data: {} }),
    JSON.stringify({ requestId: 'of-an-earlier-life', error: { code: 'INTERNAL', message: 'It failed.' } }),
  ]);

async function statusReport(stage: Stage): Promise<string> {
  const status = await statusOfNextConnection(stage);
  if (status) return Object.keys(status).join(', ');
  const expected = `a message on status within ${stage.settings.answerMs / 1000} s after the connection`;
  throw new Breach('status', expected, 'none', { isTimed: true });
}

export const messageCases: Readonly<Record<string, Case>> = {
  'status-report': {
    about: 'the connection is cut; the device reports its status on the next one',
    rules: ['status', 'reconnect-pauses'],
    play: statusReport,
  },
  'unreadable-command': {
    about: 'ten messages on `commands` that are no commands: no JSON, other values, missing members, 10,000 brackets',
    rules: ['unreadable-messages'],
    play: unreadable,
  },
  'odd-times': {
    about:
      'commands that were issued in 1970 and in 2199: a clock was wrong, and each command is answered all the same',
    rules: ['answers'],
    play: oddTimes,
  },
  'error-report': {
    about: 'a message on `errors`',
    rules: ['error-reports'],
    play: errorReport,
  },
  'foreign-response': {
    about: 'answers to a request that the device did not make, as after a restart',
    rules: ['requests'],
    play: foreignResponse,
  },
};
