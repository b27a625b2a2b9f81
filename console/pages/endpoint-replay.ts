import { useMemo } from 'preact/hooks';
import { now } from '../base/clock.ts';
import { button, div, p, progress, use, type VNode } from '../base/elements.ts';
import { events } from '../base/endpoint-words.ts';
import { count, counted } from '../base/format.ts';
import type { Outcome } from '../base/newest.ts';
import { operation, send } from '../base/requests.ts';
import type { Endpoint } from '../base/rows.ts';
import { mayChange } from '../base/session.ts';
import { given, typed } from '../base/typed.ts';
import { fromField, toField, zoneName } from '../base/zone.ts';
import { ask } from '../parts/dialog.ts';
import { typesField, typesIn } from '../parts/endpoint-fields.ts';
import { textField } from '../parts/fields.ts';
import { useFormCount } from '../parts/form-count.ts';
import { age, card, said } from '../parts/show.ts';

const DAY_MS = 86_400_000;
/** The number that stands for itself or more. */
const MOST = 100_000;
/** The events that replays have in all, as they were counted when this page began them. */
const counts = new Map<string, number>();

interface Answer {
  events: number;
  replay: { replayId: string } | null;
}

/** Begins the replay of a form, or only counts its events. */
async function request(
  endpointId: string,
  data: FormData,
  { dryRun, signal }: { dryRun?: true; signal?: AbortSignal } = {},
): Promise<Answer> {
  const time = (name: string): string | undefined => {
    const text = typed(data, name);
    if (text === undefined) return undefined;
    const at = fromField(text);
    if (Number.isNaN(at)) throw new Error('Enter whole times, or none.');
    return new Date(at).toISOString();
  };
  const types = typesIn(typed(data, 'types'));
  const json = given({
    since: time('since'),
    until: time('until'),
    types: types.length === 0 ? undefined : types,
    deviceId: typed(data, 'deviceId'),
    dryRun,
  });
  const response = await send(operation('startReplay', { endpointId }), { json, signal });
  return (await response.json()) as Answer;
}

const wordsOf = (found: Outcome<number> | null): string => {
  if (found === null) return 'Counting the events ...';
  if ('error' in found) return found.error.message;
  return found.value === 0 ? 'No event matches.' : `${events(found.value, MOST)} will be sent again.`;
};

/** The fields for a part of the stream, and how many events it has. */
function Part({ endpointId }: { endpointId: string }) {
  const { found, watched } = useFormCount(
    async (data, signal) => (await request(endpointId, data, { dryRun: true, signal })).events,
  );
  const dayAgo = useMemo(() => toField(now.peek() - DAY_MS), []);
  const when = { type: 'datetime-local' } as const;
  return div(
    { class: 'fields', ...watched },
    textField(
      { name: 'since', label: `Made from (${zoneName()})`, value: dayAgo, hint: 'Empty: all that are kept.' },
      when,
    ),
    textField({ name: 'until', label: `Made before (${zoneName()})`, hint: 'Empty: to the present.' }, when),
    typesField([], 'those of the endpoint'),
    textField({ name: 'deviceId', label: 'Device', hint: 'Empty: all.' }),
    p({ role: 'status', class: 'soft' }, wordsOf(found.value)),
  );
}

/** Asks for a part of the stream, says how many events it has, and sends them again. */
export function startReplay({ endpointId }: Endpoint, done: () => void): void {
  ask({
    title: 'Send events again',
    text: 'They are sent beside new events, at most 200 a second, with the webhook-id that they had.',
    fields: use(Part, { endpointId }),
    does: 'Start the replay',
    async act(data) {
      const { events: all, replay } = await request(endpointId, data);
      if (replay) counts.set(replay.replayId, all);
      done();
      return `The replay of ${events(all, MOST)} has begun.`;
    },
  });
}

function cancelReplay({ endpointId }: Endpoint, done: () => void): void {
  ask({
    title: 'Cancel the replay?',
    text: 'Events that it has taken already are sent. The others are not sent again.',
    does: 'Cancel the replay',
    isBad: true,
    async act() {
      await send(operation('cancelReplay', { endpointId }));
      done();
      return 'The replay is cancelled.';
    },
  });
}

/** The progress of the replay that runs; nothing without one. */
export function replayCard(endpoint: Endpoint, done: () => void): VNode | null {
  const { replay, types: own, failingSince } = endpoint;
  if (replay === null) return null;
  const { replayId, events: sent, startedAt, types, deviceId } = replay;
  const all = counts.get(replayId);
  const wanted = types.length === 0 ? own : types;
  return card(
    {
      title: 'A replay runs',
      side: mayChange('application')
        ? button({ type: 'button', class: 'tiny', onClick: () => cancelReplay(endpoint, done) }, 'Cancel')
        : null,
    },
    div(
      { class: 'stack tight' },
      p(
        { role: 'status' },
        all === undefined
          ? `${counted(sent, 'event')} taken so far.`
          : `${count(sent)} of ${events(all, MOST)} taken so far.`,
      ),
      all === undefined || all === 0
        ? null
        : progress({ max: all, value: Math.min(sent, all), 'aria-label': 'Progress of the replay' }),
      p(
        { class: 'quiet small' },
        'Begun ',
        age(startedAt),
        wanted.length === 0 ? ', all types' : [', types ', said(wanted.join(', '))],
        deviceId === null ? null : [', device ', said(deviceId)],
        '.',
        failingSince === null ? null : ' The endpoint fails, so the replay may wait until it works again.',
      ),
    ),
  );
}
