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
  decisions: ['As decisões não têm a raiz certificada', 'The decisions lack the certified root'],
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
  decisions: ['Decisões', 'Decisions'],
  head: ['Último elo', 'Head'],
  keys: ['Chaves', 'Keys'],
  authenticated: ['Autenticado pelo que foi dado.', 'Authenticated by what was given.'],
  up_to_head: ['Só até o elo dado.', 'Only up to the given head.'],
  not_authenticated: ['Coerente em si, não autenticado', 'Self-consistent, not authenticated'],
  unproven: ['Sem prova dos lançamentos (/1)', 'Without proof of their lines (/1)'],
  complete: ['Lançamentos no extrato do banco', "Lines in the bank's file"],
  not_checked: ['não conferidas, sem --decisions', 'not checked, without --decisions'],
  not_complete: ['Sem --statement, nada prova que está completo.', 'Not shown to be complete.'],
} as const;

export type Language = 'pt' | 'en';
const at = (language: Language) => (language === 'pt' ? 0 : 1);

export const say = (word: keyof typeof others, language: Language): string =>
  others[word][at(language)];

export function describe({ code, where, expected, actual }: Finding, language: Language): string {
  const wanted = expected && `${say('expected', language)} ${expected}`;
  const found = actual && `${say('found', language)} ${actual}`;
  const values = [wanted, found].filter((text) => text !== '').join(', ');
  return `${where}: ${findings[code][at(language)]}${values && ` (${values})`}`;
}
