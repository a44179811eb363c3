/** Who the sandbox bank says it is: a fictitious institution, on codes that no real one has been given. */
export const bank = {
  /** COMPE code in bar codes; 999 is assigned to nobody. */
  code: '999',
  ispb: '99999999',
  name: 'Banco Sandbox S.A.',
} as const;

/** The institution of everybody who pays from outside, unless the test names another. */
export const outsideBank = { ispb: '88888888', name: 'Banco dos Pagadores S.A.' } as const;
