import { loadContracts } from '@lapel/schemas/contracts/contracts';
import t from 'tap';
import { INBOUND, OUTBOUND, topicOf } from '../../src/edge/mqtt/topics.ts';
import { checkMessage, checkWebhook } from './checked-messages.ts';
import { readAsyncApi, schemaName } from './documents.ts';

const document = readAsyncApi();
const mqtt = Object.values(document.operations).filter(({ channel }) => channel.address !== undefined);

t.test('documents exactly the topics of the broker, in their direction', async (t) => {
  const documented = (action: string): string[] =>
    mqtt.filter((operation) => operation.action === action).map(({ channel }) => channel.address ?? '');
  const served = (kinds: readonly (typeof INBOUND)[number][] | readonly (typeof OUTBOUND)[number][]): string[] =>
    kinds.map((kind) => topicOf('{deviceId}', kind)).sort();
  t.same(documented('receive').sort(), served(INBOUND));
  t.same(documented('send').sort(), served(OUTBOUND));
});

t.test('every topic has QoS 1', async (t) => {
  for (const { channel, bindings } of mqtt) t.equal(bindings.mqtt?.qos, 1, String(channel.address));
});

t.test('every payload is a schema file of 2020-12', async (t) => {
  const { documents } = loadContracts();
  for (const { messages } of Object.values(document.channels)) {
    for (const { name, payload } of Object.values(messages)) {
      t.ok(documents.has(schemaName(payload.schema)), name);
      t.match(payload.schemaFormat, 'draft-2020-12');
    }
  }
});

t.test('a captured command is checked against its schema, with the parameters of its operation', async (t) => {
  const command = {
    transactionId: 1,
    operation: 'activate',
    parameters: { applicationId: 'a', clientId: 'c' },
    issuedAt: '2026-11-20T08:30:00.123456Z',
    attempt: 1,
  };
  const topic = 'devices/490154203237518/commands';
  t.same(checkMessage(topic, JSON.stringify(command)), command);
  t.throws(() => checkMessage(topic, JSON.stringify({ ...command, parameters: { clientId: 'c' } })), /applicationId/);
  t.throws(() => checkMessage(topic, JSON.stringify({ ...command, operation: 'setWifi' })), /networks/);
  t.throws(() => checkMessage(topic, JSON.stringify({ ...command, attempt: 0 })), /attempt/);
  t.throws(() => checkMessage('devices/490154203237518/other', '{}'), /not documented/);
});

t.test('a captured webhook is checked against its schema', async (t) => {
  const webhook = {
    type: 'something.else',
    timestamp: '2026-11-20T08:30:00.123456Z',
    data: { applicationId: 'a', deviceId: '1' },
  };
  t.throws(() => checkWebhook(JSON.stringify(webhook)), /deviceId/);
  const good = { ...webhook, data: { ...webhook.data, deviceId: '490154203237518' } };
  t.same(checkWebhook(JSON.stringify(good)), good);
  t.throws(() => checkWebhook(JSON.stringify({ ...good, type: 'transaction.failed' })), /transaction: Field required/);
});
