import { column, date, type Resource } from './admin-resource.ts';

const BY = 'firmware, battery, version, package, developer, application, activation';

/** The figures of the whole fleet. */
export const FLEET: Resource = {
  resource: 'fleet',
  columns: [column('VALUE', 'value'), column('DEVICES', 'devices')],
  verbs: [
    {
      verb: 'summary',
      isNoun: true,
      summary: 'Counts devices, waiting commands and webhooks, and failures',
      about: 'Figures are computed at most every ten seconds; times are in UTC.',
      operation: 'readSummary',
      examples: ['lapel admin fleet summary', 'lapel admin fleet summary --json | jq .devices'],
    },
    {
      verb: 'breakdown',
      isNoun: true,
      summary: 'Counts devices by a property',
      about: `BY is one of ${BY}. The row without a value counts the devices that have none.`,
      operation: 'readBreakdown',
      arguments: { BY: 'by' },
      kind: 'list',
      list: 'groups',
      whole: true,
      query: { package: { parameter: 'package', value: 'NAME', text: 'the package whose versions are counted' } },
      examples: [
        'lapel admin fleet breakdown firmware',
        'lapel admin fleet breakdown version --package com.example.camera',
      ],
    },
    {
      verb: 'failures',
      isNoun: true,
      summary: 'Counts installations that failed, by version, beside the period of the same length before',
      about: 'Without --since the last day is counted, and at most 31 days.',
      operation: 'readFailures',
      kind: 'list',
      list: 'versions',
      whole: true,
      columns: [
        column('PACKAGE', 'package'),
        column('VERSION', 'version'),
        column('FINISHED', 'finished'),
        column('FAILED', 'failed'),
        column('FINISHED BEFORE', 'finishedBefore'),
        column('FAILED BEFORE', 'failedBefore'),
      ],
      query: {
        since: {
          parameter: 'since',
          value: 'TIME',
          text: 'only installations that ended from this time on, in UTC: 2026-11-20T08:30:00Z',
        },
        until: { parameter: 'until', value: 'TIME', text: 'only installations that ended before this time' },
        application: { parameter: 'applicationId', value: 'ID', text: 'only installations of this application' },
        package: { parameter: 'package', value: 'NAME', text: 'only installations of this package' },
      },
      examples: ['lapel admin fleet failures', 'lapel admin fleet failures --since 2026-11-20T00:00:00Z --json'],
    },
    {
      verb: 'history',
      isNoun: true,
      summary: 'Lists the figures of the fleet since a time, at most 30 days back; times are in UTC',
      about:
        'There is a row for every ten seconds of the last two hours, for every minute of the last two days, and for every ten minutes before that.',
      operation: 'readHistory',
      kind: 'list',
      list: 'points',
      whole: true,
      columns: [
        date('TIME', 'at'),
        column('DEVICES', 'devices'),
        column('CONNECTED', 'connected'),
        column('DUE', 'due'),
        column('PENDING', 'pending'),
        column('FAILING', 'failingReceivers'),
        column('CREATED', 'created'),
        column('FINISHED', 'finished'),
        column('FAILED', 'failed'),
        column('LATE MS', 'loopP99Ms'),
      ],
      arguments: { SINCE: 'since' },
      query: { step: { parameter: 'step', value: 'SECONDS', text: 'show at most one row in this many seconds' } },
      examples: ['lapel admin fleet history 2026-11-20T08:00:00Z --step 600'],
    },
  ],
};
