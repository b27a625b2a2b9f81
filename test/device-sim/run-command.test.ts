import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { runCommand } from '@lapel/device-sim/run-command';
import t, { type Test } from 'tap';

/** A program in the background of a command. It has a connection to the test as long as it runs. */
async function background(t: Test) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const begun = once(server, 'connection').then(([socket]) => (socket as Socket).on('error', () => undefined));
  t.teardown(async () => {
    (await begun).destroy(); // then the program ends
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const program = `require("net").connect(${port}, "127.0.0.1").on("error", () => undefined)`;
  return {
    command: `'${process.execPath}' -e '${program}' &`,
    begun,
    ended: begun.then((socket) => once(socket.resume(), 'close')),
  };
}
const waiting = (withinMs = 20_000, stopped = new AbortController().signal) => ({ stopped, withinMs });

t.test('a command that leaves a program in the background has ended, and the program runs', async (t) => {
  const { command, begun } = await background(t);
  t.equal(await runCommand(`${command} exit 0`, waiting()), undefined);
  t.equal((await begun).closed, false);
});

t.test('the reason of a command that fails has its exit code and its last output', async (t) => {
  const { command } = await background(t);
  t.equal(
    await runCommand(`${command} echo no such device >&2; exit 3`, waiting()),
    'the command of --restart ended with exit code 3: no such device',
  );
});

t.test('a command that does not end in time is ended with all that it has started', async (t) => {
  const { command, ended } = await background(t);
  t.equal(
    await runCommand(`${command} echo begun; wait`, waiting(2_000)),
    'the command of --restart did not end within 2 s: begun',
  );
  await ended;
});

t.test('the end of the test ends the command and all that it has started', async (t) => {
  const { command, begun, ended } = await background(t);
  const test = new AbortController();
  const running = runCommand(`${command} wait`, waiting(20_000, test.signal));
  await begun;
  test.abort();
  t.equal(await running, 'the command of --restart was ended by SIGTERM: no output');
  await ended;
});
