import type { Readable } from 'node:stream';
import type { Test } from 'tap';
import { Agent, request } from 'undici';

export interface Item {
  topic: string;
  key: string;
  // biome-ignore lint/suspicious/noExplicitAny: rows of several kinds
  value: any;
}

/** Reads a feed, event by event. */
export function reader(body: Readable) {
  let text = '';
  const events: { event: string; data: unknown }[] = [];
  let wake: (() => void) | undefined;
  let ended = false;
  let tell: (() => void) | undefined;
  body.setEncoding('utf8');
  body.on('data', (chunk: string) => {
    text += chunk;
    tell?.();
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const [, event = '', data = 'null'] = /^event: (.*)\ndata: (.*)$/.exec(part) ?? [];
      events.push({ event, data: JSON.parse(data) });
    }
    wake?.();
  });
  body.on('close', () => {
    ended = true;
    wake?.();
  });
  body.on('error', () => undefined);
  return {
    events,
    /** The next event of a kind; earlier events are skipped. Undefined at the end. */
    // biome-ignore lint/suspicious/noExplicitAny: of several kinds
    async next(kind: string): Promise<any> {
      for (;;) {
        const at = events.findIndex(({ event }) => event === kind);
        if (at >= 0) return events.splice(0, at + 1).at(-1)?.data;
        if (ended) return undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    async closed(): Promise<void> {
      while (!ended)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    },
    stop: () => body.destroy(),
    onText(heard: () => void): void {
      tell = heard;
    },
  };
}

export async function open(t: Test, url: string, headers: Record<string, string>) {
  const dispatcher = new Agent();
  t.teardown(() => dispatcher.destroy());
  const answer = await request(url, { headers, dispatcher });
  if (answer.statusCode !== 200) await answer.body.dump();
  return { status: answer.statusCode, headers: answer.headers, ...reader(answer.body) };
}
