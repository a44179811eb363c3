// What a person can switch on in the sandbox bank from the page of the payer: its modes that have
// few values, and its faults. A test compares these lists with the sandbox's own.

/** Modes with their values. */
export const switchableModes = {
  preset: ['contract', 'published', 'complete'],
  idempotentRepeat: ['replay', 'conflict', 'ignore'],
  statementOrder: ['desc', 'asc'],
  endDate: ['exclusive', 'inclusive'],
  nsuVisibility: ['in-order', 'out-of-order'],
  balanceOrder: ['nsu', 'commit'],
  lineExternalId: ['present', 'absent'],
  lineOriginalId: ['present', 'absent'],
  refundEndToEndId: ['own', 'original'],
  reversalType: ['own', 'CREDIT_PIX'],
  webhookSigning: ['registered', 'header', 'bearer', 'basic', 'none', 'standard-webhooks'],
  webhookShape: ['complete', 'v1', 'v2'],
  pixDebit: ['at-acceptance', 'when-effective'],
  lookupAccount: ['own', 'any'],
  batch: ['atomic', 'partial'],
  batchExternalIds: ['any', 'unique'],
  customerApproval: ['automatic', 'control'],
} as const;
export type SwitchableMode = keyof typeof switchableModes;

export const modeNames = Object.keys(switchableModes) as SwitchableMode[];

/** Faults with the endpoint at which the page sets them. */
export const switchableFaults = {
  'webhook-lost': 'webhooks',
  'webhook-late': 'webhooks',
  'webhook-twice': 'webhooks',
  'webhook-reordered': 'webhooks',
  'webhook-forged': 'webhooks',
  'statement-lag': 'transactions',
  'page-shift': 'transactions',
  'line-withheld': 'transactions',
  'error-before-effect': '*',
  'error-after-effect': '*',
  'hang-after-effect': '*',
  'reset-after-effect': '*',
  'async-error': 'transfers',
  'status-stuck': 'transfers',
  'undone-silently': 'transfers',
  'debited-twice': 'transfers',
  'new-end-to-end-id': 'transfers',
  'refund-held': 'refunds',
  truncated: '*',
  garbage: '*',
  empty: '*',
  slow: '*',
} as const;
export type SwitchableFault = keyof typeof switchableFaults;

export const faultNames = Object.keys(switchableFaults) as SwitchableFault[];

/** How far a button moves the clock, as an ISO 8601 duration. */
export const clockSteps = ['PT1H', 'P1D', 'P7D', 'P30D'] as const;
