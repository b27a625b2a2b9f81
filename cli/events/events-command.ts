import type { EventsInput, StreamEvent } from '@lapel/client/read-events';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import { readWhole } from '../line/command-line.ts';
import { Interrupted } from '../line/interrupted.ts';
import { limitOption, readLimit } from '../line/limit.ts';
import type { Options } from '../line/options.ts';
import { createTeller } from '../show/json-lines.ts';
import { jsonText } from '../show/json-text.ts';
import type { Text } from '../show/look.ts';
import { oneLine } from '../show/plain-text.ts';

// The number of events that are shown without --follow and --limit.
const FIRST = 20;

const OPTIONS = {
  follow: { text: 'wait for further events until Ctrl-C' },
  consumer: { value: 'NAME', text: 'go on where this consumer is, and move it behind each event that was shown' },
  after: { value: 'N', text: 'begin behind the event with this sequence' },
  from: {
    value: 'PLACE',
    choices: ['oldest', 'latest'],
    text: 'where to begin without --after, or with a new consumer (with --follow latest, otherwise oldest)',
  },
  type: {
    value: 'T',
    many: true,
    text: 'only events of this type; a type with .* at its end stands for all that begin with it',
  },
  device: { value: 'ID', text: 'only events of this device' },
  full: { text: 'show the data of each event' },
  ...limitOption(FIRST),
  ...APPLICATION_OPTIONS,
} satisfies Options;

/** An event in one line: when, type, device and its number there, and the subject of a result. */
function eventText(event: StreamEvent, full: boolean): Text {
  const { timestamp, type, sequence, deviceSequence, data } = event;
  const about = data as { deviceId?: string; transaction?: { transactionId?: number; operation?: string } };
  const { transaction } = about;
  const ofDevice = deviceSequence === undefined ? '' : `  ${about.deviceId ?? ''} #${deviceSequence}`;
  const result = transaction ? `  ${transaction.operation ?? ''} ${transaction.transactionId ?? ''}` : '';
  return ({ paint }) => {
    const line = `${timestamp}  ${paint('bold', oneLine(type))}${oneLine(ofDevice)}${oneLine(result)}  ${paint('dim', String(sequence))}`;
    return `${line}\n${full ? `${jsonText(data, 2)}\n` : ''}`;
  };
}

export const eventsCommand: Command = {
  name: 'events',
  summary: 'Shows the events of the application in order, and follows them; needs no URL for webhooks',
  about: `Every event of the application is in its stream: results of commands, events of devices, calls, recordings, uploads,
rollouts, failing receivers. With --consumer the service keeps the place, so the next start goes on there. While the service
does not answer, --follow tries again. --json prints one object per line.`,
  options: OPTIONS,
  examples: [
    'lapel events --follow',
    'lapel events --follow --consumer billing --type transaction.* --json | jq .type',
    'lapel events --device 490154203237518 --limit 0',
  ],
  endsItself: true,
  async run(given, terminal) {
    const [consumer, after, deviceId] = [given.text('consumer'), given.text('after'), given.text('device')];
    const follow = given.flag('follow');
    const limit = follow && given.text('limit') === undefined ? Number.POSITIVE_INFINITY : readLimit(given, FIRST);
    const types = given.list('type');
    const from = given.text('from') ?? (follow ? 'latest' : 'oldest');
    const application = await openApplication(given, terminal);
    const { screen, tell } = createTeller(given.flag('json'), terminal);
    const { interrupted } = terminal;
    const wanted: EventsInput = {
      follow,
      limit,
      from: from as 'oldest' | 'latest',
      signal: interrupted,
      ...(consumer !== undefined && { consumer }),
      ...(after !== undefined && { after: readWhole('after', after) }),
      ...(deviceId !== undefined && { deviceId }),
      ...(types.length > 0 && { types }),
      onTrouble: (error) => screen.line(oneLine(`${(error as Error).message}; trying again`)),
    };
    let [shown, last] = [0, 0];
    if (follow && screen.live) screen.show(['waiting for events: Ctrl-C ends it']);
    try {
      await application.call('read the events', async (lapel) => {
        for await (const event of lapel.events(wanted)) {
          tell(event, eventText(event, given.flag('full')));
          shown += 1;
          last = event.sequence;
        }
      });
    } catch (error) {
      if (!interrupted.aborted) throw error;
    } finally {
      screen.show([]);
    }
    if (interrupted.aborted) throw new Interrupted();
    if (shown === 0) screen.line('There are none.');
    if (shown === limit && consumer === undefined) screen.line(`There may be more: --after ${last}, or --limit 0.`);
    return { json: undefined, text: '' };
  },
};
