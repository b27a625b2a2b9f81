import { column, date, type Resource } from './admin-resource.ts';

const BY = 'firmware, battery, version, package, developer, application, activation';

/** The whole fleet. */
export const FLEET: Resource = {
  resource: 'fleet',
  columns: [column('VALUE', 'value'), column('DEVICES', 'devices')],
  verbs: [
    {
      verb: 'summary',
      summary: 'How many devices there are, what waits, and what fails',
      about: 'Figures are looked for every ten seconds at most; times are in UTC.',
      method: 'GET',
      path: '/admin/v1/fleet/summary',
      examples: ['lapel admin fleet summary', 'lapel admin fleet summary --json | jq .devices'],
    },
    {
      verb: 'breakdown',
      summary: 'How many devices have what',
      about: `By ${BY}. A value that is left out is of devices that have none.`,
      method: 'GET',
      path: '/admin/v1/fleet/breakdown',
      arguments: { BY: 'by' },
      kind: 'list',
      list: 'groups',
      whole: true,
      query: { package: { parameter: 'package', value: 'NAME', text: 'of which package the versions are counted' } },
      examples: [
        'lapel admin fleet breakdown firmware',
        'lapel admin fleet breakdown version --package com.example.camera',
      ],
    },
    {
      verb: 'history',
      summary: 'The figures over the last 30 days at most; times are in UTC',
      about: 'By ten seconds at the finest, after two hours by the minute, after two days by ten minutes.',
      method: 'GET',
      path: '/admin/v1/fleet/history',
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
      query: { step: { parameter: 'step', value: 'SECONDS', text: 'between two rows at least' } },
      examples: ['lapel admin fleet history 2026-11-20T08:00:00Z --step 600'],
    },
  ],
};
