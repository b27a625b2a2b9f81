import { execFileSync } from 'node:child_process';

/** The address from which this machine gets the packages of Debian 12. */
export function debianMirror(): string {
  const format = ['indextargets', '--format', '$(SITE) $(RELEASE)'];
  const lines = execFileSync('apt-get', format, { encoding: 'utf8' }).split('\n');
  const found = lines.map((line) => line.split(' ')).find(([, release]) => release === 'bookworm');
  if (!found?.[0]) throw new Error('apt knows no server with Debian 12');
  return found[0];
}
