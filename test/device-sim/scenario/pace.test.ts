import t from 'tap';
import { changed, type Faults, put, startBreakable } from './broken-service.ts';

/** A run with a receiver that fails is longer: on a busy machine the first webhooks are late, and a phase's faults end with it. */
const scenario = (receiver = ''): string => `devices: 2
phases:
  - name: work
    duration: ${receiver === '' ? '500ms' : '3s'}
${receiver}    actions: [{ do: setWifi, each: 3 }, { do: pressButton, each: 1 }]
settle: 5s
`;

/** The fault of a service, and the figure, text and story that it must cause. */
const FAULTS: Readonly<Record<string, { faults: Faults; receiver?: string; figure: string; text: RegExp }>> = {
  'a webhook that is sent again after an answer of 204': {
    faults: {
      async sending(_, pass) {
        await pass();
        return pass();
      },
    },
    figure: 'repeated',
    text: /webhook msg_\S+ came again after an answer of 2xx, about transaction \d+/,
  },
  'a webhook that is tried again at once': {
    faults: {
      async sending({ body }, pass) {
        const reply = await pass();
        return reply.status === 503 && body.includes('transactionId') ? pass() : reply;
      },
    },
    receiver: '    receiver: { fault: fail, share: 100 % }\n', // of a smaller share none may be about a transaction
    figure: 'hammering',
    text: /webhook msg_\S+ came again [0-4]\.\d s after attempt 1 failed; the documented pause is 5 s, about transaction \d+/,
  },
  'a burst of 17 commands': {
    faults: {
      mqtt(publish) {
        if (!publish.topic.endsWith('/commands')) return [publish];
        const others = Array.from({ length: 16 }, (_, n) => {
          const payload = changed(publish.payload.toString(), (command) =>
            put(command, 'transactionId', (id) => Number(id) + 1_000_000 + n),
          );
          return { ...publish, messageId: 50_000 + n, payload };
        });
        return [publish, ...others];
      },
    },
    figure: 'window',
    text: /device \d{15}: gets 17 commands without a PUBACK or an answer, the last one for transaction \d+/,
  },
};

t.test('the pace of a service', { timeout: 300_000 }, async (t) => {
  const play = await startBreakable(t);
  const held = ['repeated', 'hammering', 'window'];

  t.test('that keeps its promises is right, also with a receiver that fails', async (t) => {
    const { verdicts } = await play(t, scenario('    receiver: { fault: fail, share: 50 % }\n'), {});
    for (const { text, holds, shown, story } of verdicts) t.ok(holds, `${text}: ${shown}`, { story });
    for (const name of held) t.ok(verdicts.some(({ text }) => text === `${name} == 0`));
  });

  for (const [name, { faults, receiver, figure, text }] of Object.entries(FAULTS)) {
    t.test(`${name} is found, and the story names the device and the transaction`, async (t) => {
      const { verdicts, troubles } = await play(t, scenario(receiver), faults);
      const verdict = verdicts.find((one) => one.text === `${figure} == 0`);
      t.equal(verdict?.holds, false);
      t.match([...troubles, ...(verdict?.story ?? [])].join('\n'), text);
      t.match(verdict?.story.join('\n'), /device \d{15}/);
    });
  }
});
