import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT_FOLDER } from '@lapel/schemas/base/installation';
import { build, stop, transform } from 'esbuild';
import { SHEETS } from './sheets.ts';

/** The files of the console as browsers get them. */
export interface MadeConsole {
  /** The script and the style sheet, by their names. */
  files: Record<'main.js' | 'style.css', string>;
  /** The npm packages that are part of them. */
  packages: string[];
}

/** A made file, with the paths of those that it was made of. */
interface Part {
  text: string;
  inputs: string[];
}

const FOLDER = join(ROOT_FOLDER, 'console');
/** Browsers of the last years; what newer ones have in addition becomes older code. */
const TARGET = 'es2022';

/** The name of the package that a file belongs to; undefined for a file of the console. */
function packageOf(path: string): string | undefined {
  const [first = '', second = ''] = path.split('node_modules/').slice(1).at(-1)?.split('/') ?? [];
  return first === '' ? undefined : first.startsWith('@') ? `${first}/${second}` : first;
}

/** The line of a package's license that names its authors. */
function copyrightOf(name: string): string {
  const license = readFileSync(join(ROOT_FOLDER, 'node_modules', name, 'LICENSE'), 'utf8');
  const line = /^Copyright.*$/m.exec(license)?.[0];
  if (line === undefined) throw new Error(`the license of ${name} names no author`);
  return `${name}: ${line} (MIT)`;
}

/** Joins all modules of the console and of packages into one script, because each file costs a way over the network. */
async function script(): Promise<Part> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(FOLDER, 'main.ts')],
    absWorkingDir: FOLDER,
    bundle: true,
    format: 'esm',
    target: TARGET,
    minify: true,
    charset: 'utf8',
    metafile: true,
    write: false,
    logLevel: 'silent', // a fault is in the error
  });
  return { text: outputFiles[0]!.text, inputs: Object.keys(metafile.inputs) };
}

async function sheet(): Promise<Part> {
  const packaged = fileURLToPath(import.meta.resolve('uplot/dist/uPlot.min.css'));
  const paths = [packaged, ...SHEETS.map((name) => join(FOLDER, 'style', `${name}.css`))];
  const whole = paths.map((path) => readFileSync(path, 'utf8')).join('\n');
  const { code } = await transform(whole, { loader: 'css', minify: true, charset: 'utf8' });
  return { text: code, inputs: [packaged] };
}

/** The packages that some files belong to. */
const packagesOf = (paths: readonly string[]): string[] =>
  [...new Set(paths.map(packageOf))].filter((name) => name !== undefined).sort();

/** A text that begins with the authors of the packages in it, as their licenses demand. */
const withNotice = ({ text, inputs }: Part): string =>
  `/*! ${packagesOf(inputs).map(copyrightOf).join('; ')} */\n${text}`;

async function make(): Promise<MadeConsole> {
  try {
    const [main, style] = await Promise.all([script(), sheet()]);
    return {
      files: { 'main.js': withNotice(main), 'style.css': withNotice(style) },
      packages: packagesOf([...main.inputs, ...style.inputs]),
    };
  } finally {
    await stop(); // its process, which would wait for more
  }
}

let making: Promise<MadeConsole> | undefined;

/**
 * Makes the files of the console. Equal sources give equal bytes. Calls at the same time share the work: all builds of a
 * process share the process of esbuild, and one that is in work when another one ends it would never end.
 */
export function makeConsole(): Promise<MadeConsole> {
  making ??= make().finally(() => {
    making = undefined;
  });
  return making;
}
