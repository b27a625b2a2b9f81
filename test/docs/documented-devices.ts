import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEBIAN_PYTHON, missing } from '../installed.ts';
import { runProgram } from '../run-program.ts';

const PAGE = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'devices.md'), 'utf8');

/** The program of a section of the page. */
function programOf(section: string): string {
  const [, program] = new RegExp(`^## ${section}$.*?^\`\`\`\\w+\n(.*?)^\`\`\``, 'ms').exec(PAGE) ?? [];
  if (program === undefined) throw new Error(`docs/devices.md has no program in the section ${section}`);
  return program;
}

/** Writes the program of a section into a folder; returns its path. */
function written(folder: string, name: string, section: string): string {
  const file = join(folder, name);
  writeFileSync(file, programOf(section));
  return file;
}

/** Compiles the program in C with the command that the page shows; any warning fails. */
async function compiled(folder: string): Promise<string[]> {
  written(folder, 'device.c', 'In C');
  const [line = ''] = /^gcc .*$/m.exec(PAGE) ?? [];
  const [gcc = '', ...args] = line.split(' ');
  const { status, stderr } = await runProgram(gcc, ['-Werror', '-Wextra', ...args], { cwd: folder });
  if (status !== 0) throw new Error(stderr);
  return [join(folder, 'device')];
}

interface Documented {
  language: string;
  skip: string | false;
  /** Puts the device into a folder; resolves to the words that start it, before its own arguments. */
  make(folder: string): Promise<string[]>;
}

/** The device that docs/devices.md makes with the library. */
export const WITH_LIBRARY: Documented = {
  language: 'ts, with the library',
  skip: false,
  make: async (folder) => [process.execPath, written(folder, 'camera.ts', 'With the library')],
};

/** The same device, which speaks MQTT 5. */
export const WITH_LIBRARY_OF_FIVE: Documented = {
  language: 'ts, with the library and MQTT 5',
  skip: false,
  async make(folder) {
    const file = written(folder, 'camera.ts', 'With the library');
    const program = readFileSync(file, 'utf8');
    const five = program.replace('service: { url:', 'service: { protocolVersion: 5, url:');
    if (five === program) throw new Error('the device names no service');
    writeFileSync(file, five);
    return [process.execPath, file];
  },
};

/** The languages in which docs/devices.md shows a device that speaks the protocol itself. */
export const DOCUMENTED: readonly Documented[] = [
  {
    language: 'ts',
    skip: false,
    make: async (folder) => [process.execPath, written(folder, 'device.ts', 'In TypeScript')],
  },
  {
    language: 'python',
    skip: missing.paho(),
    make: async (folder) => [DEBIAN_PYTHON, written(folder, 'device.py', 'In Python')],
  },
  { language: 'c', skip: missing.mosquitto(), make: compiled },
];
