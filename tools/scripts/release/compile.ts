import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { ROOT } from './lockfile.ts';
import type { Files } from './tarball.ts';

const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

/** The name of a module of another package of this repository, as TypeScript writes it. */
const OWN = /(?<=["'])@lapel\/([^"']+)(?=["'])/g;

/** Names the modules of other packages by their paths: in a release all packages are folders of one. */
function byPath(file: string, code: string): string {
  return code.replaceAll(OWN, (_, module: string) => {
    const path = relative(dirname(file), `${module}.js`);
    return path.startsWith('.') ? path : `./${path}`;
  });
}

interface Parts {
  /** The configuration that is refined: a path in the project. */
  config: string;
  /** Folders or files of the project. */
  include: readonly string[];
  options: Readonly<Record<string, unknown>>;
}

/**
 * Compiles a part of the project with TypeScript, file by file: the structure stays, imports of `.ts` and of other packages
 * become imports of `.js`, and `using`, which Node 22 cannot read, becomes older code. Removing the types alone would leave it.
 */
export function compile({ config, include, options }: Parts): Files {
  const folder = mkdtempSync(join(tmpdir(), 'lapel-compile-'));
  try {
    const settings = {
      extends: join(ROOT, config),
      compilerOptions: {
        noEmit: false,
        allowImportingTsExtensions: false,
        rewriteRelativeImportExtensions: true,
        rootDir: ROOT,
        outDir: join(folder, 'out'),
        // Files of another package are compiled too; as those of a library they would be left out.
        paths: { '@lapel/*': [join(ROOT, '*.ts')] },
        typeRoots: [join(ROOT, 'node_modules/@types')],
        ...options,
      },
      include: include.map((path) => join(ROOT, path)),
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
    execFileSync(process.execPath, [TSC, '-p', folder], { stdio: ['ignore', 'inherit', 'inherit'] });
    const made = readdirSync(join(folder, 'out'), { recursive: true, withFileTypes: true });
    const entries = made
      .filter((entry) => entry.isFile())
      .map((entry): [string, Buffer] => {
        const file = join(entry.parentPath, entry.name);
        const path = relative(join(folder, 'out'), file);
        return [path, Buffer.from(byPath(path, readFileSync(file, 'utf8')))];
      });
    return new Map(entries);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
