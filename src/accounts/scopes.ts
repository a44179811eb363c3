// What a business system's key may do.
export const scopes = [
  'read',
  'charge',
  'transfer',
  'pay',
  'refund',
  'onboard',
  'reconcile',
] as const;
export type Scope = (typeof scopes)[number];
