import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const OWN = '@lapel';

/**
 * Gives a copy of a checkout the libraries of that checkout, as links. The packages of the repository lead to the copy's own
 * folders: one link to all of node_modules would lead to those of the checkout, whose files may be others.
 */
export function linkLibraries(checkout: string, copy: string): void {
  const [from, to] = [checkout, copy].map((folder) => join(folder, 'node_modules')) as [string, string];
  mkdirSync(join(to, OWN), { recursive: true });
  for (const name of readdirSync(from).filter((one) => one !== OWN)) symlinkSync(join(from, name), join(to, name));
  for (const name of readdirSync(join(from, OWN))) symlinkSync(join('../..', name), join(to, OWN, name));
}
