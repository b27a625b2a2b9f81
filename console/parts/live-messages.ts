import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { button, code, div, input, label, p, span, use, type VNode } from '../base/elements.ts';
import { feedRound } from '../base/feed.ts';
import { clockOf, count, visible, whenExactly } from '../base/format.ts';
import { useWatch } from '../base/watching.ts';
import { zoneName } from '../base/zone.ts';
import { copy } from './copy.ts';
import { close, open, title } from './dialog.ts';
import { json } from './json.ts';
import { breakable, card } from './show.ts';

interface Message {
  at: string;
  direction: 'in' | 'out';
  topic: string;
  qos: number;
  payload: string;
  truncated: boolean;
}
interface Line {
  key: number;
  /**
   * A gap in the messages. `dropped` is the number of missing messages; null when it is unknown, because the stream was
   * interrupted.
   */
  message: Message | { dropped: number | null };
}

/** The most messages that the page keeps; when there are more, the oldest are dropped. */
const KEPT = 2_000;
/** The height of a line in pixels, as in the style sheet (1.75rem). */
const LINE = 28;
const AHEAD = 6;

/** Removes the prefix that all topics of the device share. */
const shortTopic = (topic: string, deviceId: string): string =>
  topic.startsWith(`devices/${deviceId}/`) ? topic.slice(`devices/${deviceId}/`.length) : topic;

function show(message: Message): void {
  const direction = message.direction === 'in' ? 'from the device' : 'to the device';
  open(
    div(
      null,
      title('Message'),
      p(
        { class: 'soft wrap' },
        `${direction}, QoS ${message.qos}, ${whenExactly(message.at)}`,
        message.truncated ? ' (shortened)' : '',
      ),
      code({ class: 'wrap' }, breakable(message.topic)),
      json(message.payload),
      div({ class: 'ends' }, copy(message.payload), button({ type: 'button', class: 'main', onClick: close }, 'Close')),
    ),
  );
}

/** Shows the messages from and to a device, live, without passwords and signed URLs. */
function LiveMessages({ deviceId }: { deviceId: string }) {
  const lines = useSignal<readonly Line[]>([]);
  const isPaused = useSignal(false);
  const missed = useSignal(0);
  const wanted = useSignal('');
  const top = useSignal(0);
  const box = useRef<HTMLDivElement>(null);
  const last = useRef(0);
  const waiting = useRef<Line[]>([]);
  const frame = useRef<number | undefined>(undefined);

  // Messages that arrive within one animation frame are shown together.
  const flush = (): void => {
    frame.current = undefined;
    const more = waiting.current;
    waiting.current = [];
    const element = box.current;
    const isAtEnd = element === null || element.scrollHeight - element.scrollTop - element.clientHeight < 2 * LINE;
    lines.value = [...lines.peek(), ...more].slice(-KEPT);
    if (isAtEnd) requestAnimationFrame(() => box.current?.scrollTo({ top: box.current.scrollHeight }));
  };
  const add = (message: Line['message']): void => {
    if (isPaused.peek()) {
      missed.value += 'dropped' in message ? (message.dropped ?? 0) : 1;
      return;
    }
    last.current += 1;
    waiting.current.push({ key: last.current, message });
    frame.current ??= requestAnimationFrame(flush);
  };
  useWatch(
    `device:${encodeURIComponent(deviceId)}`,
    ({ value }) => add(value as Message),
    (dropped) => add({ dropped }),
  );
  const since = useRef(feedRound.peek());
  useEffect(() => {
    if (since.current !== feedRound.value && lines.peek().length > 0) add({ dropped: null });
    since.current = feedRound.value;
  }, [feedRound.value]);

  const pause = (): void => {
    isPaused.value = !isPaused.value;
    missed.value = 0;
  };
  const text = wanted.value.toLowerCase();
  const found =
    text === ''
      ? lines.value
      : lines.value.filter(
          ({ message }) => 'dropped' in message || `${message.topic} ${message.payload}`.toLowerCase().includes(text),
        );
  const height = box.current?.clientHeight ?? 384;
  const first = Math.max(0, Math.floor(top.value / LINE) - AHEAD);
  const shown = found.slice(first, first + Math.ceil(height / LINE) + 2 * AHEAD);

  return card(
    {
      title: 'Live messages',
      bare: true,
      side: div(
        { class: 'row' },
        span({ class: 'quiet small' }, `times in ${zoneName()}`),
        label({ class: 'unseen', htmlFor: 'messages-filter' }, 'Filter messages by text'),
        input({
          id: 'messages-filter',
          type: 'text',
          placeholder: 'Filter by text',
          autoComplete: 'off',
          onInput: (event) => (wanted.value = event.currentTarget.value),
        }),
        button(
          {
            type: 'button',
            class: 'tiny',
            'aria-pressed': isPaused.value,
            onClick: pause,
          },
          isPaused.value ? `Resume${missed.value > 0 ? ` (${count(missed.value)} missed)` : ''}` : 'Pause',
        ),
        button({ type: 'button', class: 'tiny', onClick: () => (lines.value = []) }, 'Clear'),
      ),
    },
    found.length === 0
      ? div(
          { class: 'empty' },
          p(
            null,
            text === ''
              ? 'Messages from and to the device appear here as they are sent.'
              : 'No message contains this text.',
          ),
        )
      : div(
          {
            class: 'messages',
            ref: box,
            tabIndex: 0,
            role: 'log',
            'aria-label': 'Messages',
            'aria-live': 'off',
            onScroll: (event) => (top.value = event.currentTarget.scrollTop),
          },
          div({ style: { height: `${found.length * LINE}px` } }),
          div(
            { class: 'window', style: { top: `${first * LINE}px` } },
            shown.map(({ key, message }) =>
              'dropped' in message
                ? div(
                    { class: 'gap', key },
                    message.dropped === null
                      ? 'Messages are missing here: the page was hidden, or the service was unreachable'
                      : `${count(message.dropped)} messages are left out, because more came than can be read`,
                  )
                : button(
                    { type: 'button', class: `line is-${message.direction}`, key, onClick: () => show(message) },
                    span({ class: 'num quiet', title: whenExactly(message.at) }, clockOf(message.at)),
                    span(
                      { class: 'way', title: message.direction === 'in' ? 'from the device' : 'to the device' },
                      message.direction === 'in' ? '←' : '→',
                    ),
                    span({ title: visible(message.topic) }, visible(shortTopic(message.topic, deviceId))),
                    span(null, visible(message.payload)),
                  ),
            ),
          ),
        ),
  );
}

export const liveMessages = (deviceId: string): VNode => use(LiveMessages, { deviceId, key: deviceId });
