import type { Operations } from '@lapel/client/operations';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import { UsageError } from '../line/usage-error.ts';
import { type Column, recordText, table, timeText } from '../show/table.ts';

type Consumer = Operations['readConsumer']['answer'];

const NAME = { name: 'NAME' };

const COLUMNS: readonly Column<Consumer>[] = [
  { head: 'CONSUMER', cell: ({ name }) => name },
  { head: 'AFTER', cell: ({ after }) => after },
  { head: 'BEHIND', cell: ({ lag }) => lag.events },
  { head: 'SECONDS', cell: ({ lag }) => Math.round(lag.seconds) },
  { head: 'STATE', cell: ({ state }) => state, state: true },
  { head: 'MOVED', cell: ({ updatedAt }) => timeText(updatedAt) },
];

/** What is wrong with them, and what to do. */
const sentences = (consumers: readonly Consumer[]): string => {
  const told = consumers.flatMap(({ attention }) => attention ?? []);
  return told.length === 0 ? '' : `\n${told.join('\n')}\n`;
};

const list: Command = {
  name: 'consumer list',
  summary: 'Lists the consumers of the stream of events, how far behind they are, and what to do',
  options: APPLICATION_OPTIONS,
  examples: ['lapel consumer list', 'lapel consumer list --json | jq .consumers[].lag'],
  async run(given, terminal) {
    const application = await openApplication(given, terminal);
    const { consumers } = await application.call('list the consumers', (lapel) => lapel.listConsumers());
    return {
      json: { ok: true, consumers },
      text: (look) => `${table(COLUMNS, consumers, 'There are none.')(look)}${sentences(consumers)}`,
    };
  },
};

const move: Command = {
  name: 'consumer move',
  arguments: [NAME, { name: 'AFTER' }],
  summary: 'Moves a consumer forward, behind the event with the sequence AFTER; it may be new',
  about: 'A consumer that is to go back is deleted first, and moved to its place as a new one.',
  options: APPLICATION_OPTIONS,
  examples: ['lapel consumer move billing 34021155203117', 'lapel consumer move billing 0'],
  async run(given, terminal) {
    const [consumer = '', place = ''] = given.positionals;
    if (!/^\d{1,16}$/.test(place)) throw new UsageError('AFTER', `"${place}" is not a whole number`);
    const after = Number(place);
    const application = await openApplication(given, terminal);
    const moved = await application.call(`move ${consumer}`, (lapel) =>
      lapel.moveConsumer({ consumer, body: { after } }),
    );
    return { json: { ok: true, ...moved }, text: recordText(moved) };
  },
};

const remove: Command = {
  name: 'consumer delete',
  arguments: [NAME],
  summary: 'Deletes a consumer; the events stay',
  options: APPLICATION_OPTIONS,
  examples: ['lapel consumer delete billing'],
  async run(given, terminal) {
    const [consumer = ''] = given.positionals;
    const application = await openApplication(given, terminal);
    await application.call(`delete ${consumer}`, (lapel) => lapel.deleteConsumer({ consumer }));
    return { json: { ok: true, name: consumer }, text: `deleted: ${consumer}\n` };
  },
};

export const CONSUMER_COMMANDS: readonly Command[] = [list, move, remove];
