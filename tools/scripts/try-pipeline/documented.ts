import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Use } from './github-runner.ts';
import type { Extension } from './gitlab-runner.ts';

export const ROOT = join(import.meta.dirname, '../../..');
export const PAGE = 'docs/pipelines.md';

interface Workflow {
  jobs: { release: { steps: { id?: string; uses: string; with?: Record<string, unknown> }[] } };
}
type Job = { extends: string; variables: Record<string, unknown> };

const texts = (values: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));

/** The jobs of the page as they stand there. */
export function documentedJobs(): {
  gitHub: Pick<Use, 'action' | 'with'>;
  gitLab: Pick<Extension, 'include' | 'extends' | 'variables'>;
} {
  const page = readFileSync(join(ROOT, PAGE), 'utf8');
  const [workflow, pipeline] = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(
    ([, text = '']) => parse(text) as object,
  );
  const step = (workflow as Workflow).jobs.release.steps.find(({ id }) => id === 'lapel');
  const { include, release } = pipeline as { include: [{ local: string }]; release: Job };
  if (!step) throw new Error(`${PAGE} has no step lapel`);
  return {
    gitHub: { action: join(ROOT, step.uses, 'action.yml'), with: texts(step.with ?? {}) },
    gitLab: { include: join(ROOT, include[0].local), extends: release.extends, variables: texts(release.variables) },
  };
}
