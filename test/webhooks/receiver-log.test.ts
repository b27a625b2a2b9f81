import { Writable } from 'node:stream';
import t from 'tap';
import { createLog } from '../../src/runtime/log.ts';
import { createSetUp } from './set-up.ts';
import { createTestReceiver } from './test-receiver.ts';

void t.test(
  'the log reports once that a receiver begins to fail, once that it recovers, and once a minute what was given up',
  async (t) => {
    const receiver = await createTestReceiver(t);
    const { open, clock } = await createSetUp(t, receiver.url);
    const lines: { msg: string; [field: string]: unknown }[] = [];
    const destination = new Writable({
      write(chunk: Buffer, _encoding, done) {
        for (const line of chunk.toString().trim().split('\n')) lines.push(JSON.parse(line));
        done();
      },
    });
    const { webhooks, record } = await open({ log: createLog({ level: 'info', destination }) });
    const told = () => lines.splice(0).map(({ msg }) => msg);
    await record();
    await webhooks.idle();
    t.same(told(), [], 'nothing of what goes well');

    receiver.answer({ status: 500 });
    for (let index = 0; index < 20; index += 1) await record();
    await webhooks.idle();
    t.match(lines, [{ applicationId: 'app-1', setting: 'deviceEvent', error: 'answered 500' }]);
    t.same(told(), ['webhook receiver began to fail']);

    receiver.answer({});
    clock.advance(7_000);
    await webhooks.idle();
    t.match(lines, [{ applicationId: 'app-1', seconds: 7 }]);
    t.same(told(), ['webhook receiver answers again']);

    receiver.answer({ status: 410 });
    for (let index = 0; index < 20; index += 1) await record();
    await webhooks.idle();
    t.match(
      lines,
      [{ msg: 'webhook refused for good', leftOut: 0 }],
      'it began again within the minute: that is not told twice',
    );
    told();
    clock.advance(60_000);
    await record();
    await webhooks.idle();
    t.match(lines.at(-1), { msg: 'webhook refused for good', leftOut: 19 });
  },
);
