import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

/** Variables without which this machine may have no network. */
const NETWORK = /^((https?|no|all)_proxy|node_extra_ca_certs|ssl_cert_(file|dir)|npm_config_registry)$/i;
const RUN_MS = 5 * 60_000;
const LINE_MS = 60_000;
const END_MS = 15_000;
/** The last characters of an output that are shown when a program fails. */
const SHOWN = 3000;

export type Environment = Readonly<Record<string, string>>;

/** The environment of a user who has only just arrived: an empty HOME, and a Node before those of the machine. */
export function environmentOf(home: string, nodeFolder: string): Environment {
  const kept = Object.entries(process.env).flatMap(([name, value]) =>
    NETWORK.test(name) && value !== undefined ? [[name, value]] : [],
  );
  return { ...Object.fromEntries(kept), HOME: home, PATH: `${nodeFolder}:/usr/local/bin:/usr/bin:/bin` };
}

interface Place {
  env: Environment;
  cwd: string;
}

/** The programs that run; none of them may outlive this one. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

function collect(child: ChildProcess) {
  const output = { stdout: '', stderr: '' };
  running.add(child);
  child.once('close', () => running.delete(child));
  child.stdout?.on('data', (part) => {
    output.stdout += String(part);
  });
  child.stderr?.on('data', (part) => {
    output.stderr += String(part);
  });
  return output;
}

/** Runs a program to its end. Throws, with the end of its output, when its exit code is another one. */
export async function run([program = '', ...args]: readonly string[], { env, cwd }: Place, expected = 0) {
  const child = spawn(program, args, {
    env,
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: RUN_MS,
    killSignal: 'SIGKILL',
  });
  const output = collect(child);
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (code === expected) return output;
  const text = `${output.stdout}${output.stderr}`.slice(-SHOWN);
  throw new Error(`${[program, ...args].join(' ')} ended with ${code ?? signal}, not with ${expected}:\n${text}`);
}

/** Starts a program that stays. */
export function start([program = '', ...args]: readonly string[], { env, cwd }: Place) {
  const child = spawn(program, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = collect(child);
  const closed = once(child, 'close');
  closed.catch(() => undefined); // told by the next call
  const failure = (text: string): Error =>
    new Error(`${program} ${text}:\n${output.stdout}${output.stderr}`.slice(0, SHOWN));
  async function end(): Promise<number | null> {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    const killed = setTimeout(() => child.kill('SIGKILL'), END_MS);
    await closed;
    clearTimeout(killed);
    return child.exitCode;
  }
  return {
    /** Resolves with the first match in the standard output, now or later. */
    async said(pattern: RegExp): Promise<RegExpExecArray> {
      const until = performance.now() + LINE_MS;
      for (;;) {
        const found = pattern.exec(output.stdout);
        if (found) return found;
        if (child.exitCode !== null || child.signalCode !== null) throw failure(`has ended before ${pattern.source}`);
        if (performance.now() > until) throw failure(`has not said ${pattern.source}`);
        await pause(20);
      }
    },
    /** Ends the program by SIGTERM, and resolves with its exit code; null when it had to be killed. */
    end,
    [Symbol.asyncDispose]: async () => void (await end()),
  };
}
