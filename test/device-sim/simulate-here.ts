import { simulate } from '@lapel/device-sim/simulate';

/**
 * Carries out a command line of the simulator in this process, because starting a process costs more than most commands
 * take. `device-sim/main.ts` does the same with the streams of its process. `onSaid` gets each piece of standard error.
 */
export async function simulateHere(
  args: readonly string[],
  { env = {}, onSaid = () => {} }: { env?: NodeJS.ProcessEnv; onSaid?: (text: string) => void } = {},
): Promise<{ stdout: string; stderr: string; code: number }> {
  let [stdout, stderr] = ['', ''];
  const code = await simulate(args, {
    env,
    stdout: {
      write(text) {
        stdout += text;
      },
    },
    stderr: {
      write(text) {
        stderr += text;
        onSaid(text);
      },
    },
    interruption: () => new AbortController().signal,
  });
  return { stdout, stderr, code };
}
