import { parse } from 'yaml';

/** Commands of a job that run in a shell of their own. */
export interface Step {
  name: string;
  script: string;
}

/** A job that a document shows, for GitHub or GitLab. */
export interface CiJob {
  runner: 'GitHub' | 'GitLab';
  steps: Step[];
  /** Files and folders that the job keeps, relative to the checkout. */
  artifacts: string[];
  /** JUnit files that the CI shows, relative to the checkout. */
  reports: string[];
}

interface GitHubStep {
  name?: string;
  run?: string;
  uses?: string;
  with?: { path?: string; report_paths?: string };
}

interface GitLabJob {
  script: string[];
  artifacts: { paths: string[]; reports: { junit: string } };
}

/** Throws for a member that is not known here: to ignore it would run the job in another way than the CI. */
function refuseOthers(what: string, object: object, known: readonly string[]): void {
  for (const key of Object.keys(object))
    if (!known.includes(key)) throw new Error(`${what}: the member "${key}" is unknown to tools/scripts/ci-jobs.ts`);
}

function readGitHub(steps: readonly GitHubStep[]): CiJob {
  const job: CiJob = { runner: 'GitHub', steps: [], artifacts: [], reports: [] };
  for (const step of steps) {
    refuseOthers('a step of the GitHub job', step, ['name', 'run', 'uses', 'with', 'if']);
    const { name, run, uses, with: inputs = {} } = step;
    const action = uses?.replace(/@.*$/, '');
    if (run !== undefined) job.steps.push({ name: name ?? run.trim(), script: run });
    else if (action === 'actions/upload-artifact' && inputs.path !== undefined) job.artifacts.push(inputs.path);
    else if (action === 'mikepenz/action-junit-report' && inputs.report_paths !== undefined)
      job.reports.push(inputs.report_paths);
    else if (action !== 'actions/checkout')
      throw new Error(`the action ${uses} is unknown to tools/scripts/ci-jobs.ts`);
  }
  return job;
}

function readGitLab({ script, artifacts }: GitLabJob): CiJob {
  const steps = [{ name: 'script', script: script.join('\n') }];
  return { runner: 'GitLab', steps, artifacts: artifacts.paths, reports: [artifacts.reports.junit] };
}

/** The jobs that the section "A job for the CI" of docs/qa.md shows, in their order. */
export function ciJobs(page: string): CiJob[] {
  const section = page.split('\n## A job for the CI\n')[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = '']) => {
    const [job = {}] = Object.values(parse(text) as Record<string, object>);
    if ('steps' in job) {
      refuseOthers('the GitHub job', job, ['runs-on', 'steps']);
      return readGitHub(job.steps as GitHubStep[]);
    }
    refuseOthers('the GitLab job', job, ['image', 'script', 'artifacts']);
    return readGitLab(job as GitLabJob);
  });
}
