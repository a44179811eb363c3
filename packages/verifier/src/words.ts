// What is said, in two languages.

const findings = {
  unreadable: ['Fora da forma devida', 'Not in its form'],
  link: ['O elo da cadeia não confere', 'The link of the chain does not hold'],
  unsigned: ['Sem assinatura depois de um assinado', 'Unsigned after a signed one'],
  signature: ['A assinatura não confere', 'The signature does not hold'],
  key_not_endorsed: ['Chave que a anterior não endossou', 'A key that the last did not endorse'],
  line_changed: ['Lançamento mudou ou saiu em revisão', 'A revision changed or lost the line'],
  lines: ['Quantidade de lançamentos', 'Number of lines'],
  line_sum: ['Saldo depois do lançamento', 'Balance after the line'],
  order: ['Lançamentos fora de ordem', 'Lines are not in order'],
  other_day: ['Lançamento de outro dia', 'A line of another day'],
  root: ['Os lançamentos não têm a raiz certificada', 'The lines have another root'],
  sums: ['Soma', 'Sum'],
  day_missing: ['Falta um dia', 'A day is missing'],
  opening: ['O dia não abre com o saldo anterior', 'The day opens with another balance'],
  balance_chain: ['Falta um lançamento antes deste', 'A line before this one is missing'],
  balance: ['O saldo certificado é outro', 'The certified balance is another one'],
  head_unknown: ['O hash dado não está na cadeia', 'The given head is not in the chain'],
  key_unknown: ['A chave dada não assinou a cadeia', 'The given key did not sign the chain'],
  not_certified: ['No extrato do banco, sem certificado', "In the bank's file, not certified"],
  not_at_bank: ['Certificado, fora do extrato do banco', "Certified, not in the bank's file"],
  amount: ['Valor diferente do extrato do banco', "Another amount than in the bank's file"],
  day: ['Dia diferente do extrato do banco', "Another day than in the bank's file"],
} as const;
export type FindingCode = keyof typeof findings;

export interface Finding {
  code: FindingCode;
  /** A day, a line, or the number of a certificate. */
  where: string;
  expected: string;
  actual: string;
}

const others = {
  expected: ['esperado', 'expected'],
  found: ['encontrado', 'found'],
  valid: ['Tudo confere.', 'Everything holds.'],
  invalid: ['Não confere:', 'Does not hold:'],
  covers: ['Dias', 'Days'],
  certificates: ['Certificados', 'Certificates'],
  lines: ['Lançamentos', 'Lines'],
  head: ['Último elo', 'Head'],
  keys: ['Chaves', 'Keys'],
  authenticated: [
    'Autenticado pelo que foi dado fora do arquivo.',
    'Authenticated by what was given.',
  ],
  up_to_head: [
    'Depois do elo dado, só coerente consigo mesmo.',
    'After the given head, self-consistent only.',
  ],
  not_authenticated: [
    'Coerente consigo mesmo, não autenticado: dê --key ou --head.',
    'Self-consistent, not authenticated: give --key or --head.',
  ],
  unproven: [
    'Certificados do formato /1 (lançamentos e cadeia de saldos sem prova)',
    'Certificates of the format /1 (lines and their balance chain are not proven)',
  ],
  complete: [
    'Comparado com o extrato do banco, lançamentos',
    "Compared with the bank's file, lines",
  ],
  not_complete: [
    'Sem o extrato do banco (--statement), nada prova que está completo.',
    "Without the bank's file (--statement), nothing proves completeness.",
  ],
} as const;

export type Language = 'pt' | 'en';
const at = (language: Language) => (language === 'pt' ? 0 : 1);

export const say = (word: keyof typeof others, language: Language): string =>
  others[word][at(language)];

export function describe({ code, where, expected, actual }: Finding, language: Language): string {
  const parts = [
    ...(expected === '' ? [] : [`${say('expected', language)} ${expected}`]),
    ...(actual === '' ? [] : [`${say('found', language)} ${actual}`]),
  ];
  const values = parts.length > 0 ? ` (${parts.join(', ')})` : '';
  return `${where}: ${findings[code][at(language)]}${values}`;
}
