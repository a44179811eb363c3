import { describe, expect, it } from '@jest/globals';
import { fieldMessagesIn, serviceMessageIn } from './service-messages.js';

describe('a message of the service', () => {
  it.each([
    ['Must have at most 140 characters.', 'Pode ter no máximo 140 caracteres.'],
    ['Must have at most two decimals, got 10.005', 'Pode ter no máximo duas casas decimais.'],
    ['Must be one of credit, debit.', 'Precisa ser um destes: credit, debit.'],
    ['Must be BANKSLIP or BANKSLIP_PIX.', 'Precisa ser BANKSLIP ou BANKSLIP_PIX.'],
    [
      'Line 1: Column 3 of the header is not a valid field name.',
      'A coluna 3 do cabeçalho não é um campo válido.',
    ],
    ['The file has more than 100000 rows (line 100002).', 'O arquivo tem mais de 100000 linhas.'],
    ['Some message that was added later.', 'Valor inválido.'],
  ])('%s is %s in Portuguese', (message, text) => {
    expect(serviceMessageIn('pt', message)).toBe(text);
    expect(serviceMessageIn('en', message)).toBe(message);
  });

  it('stands behind the name of its field', () => {
    const errors = { '$.payer.document': ['Must be a CPF or a CNPJ.'], $: ['Must be a number.'] };
    expect(fieldMessagesIn('pt', errors)).toEqual([
      'payer.document: Precisa ser um CPF ou CNPJ válido.',
      'Precisa ser um número.',
    ]);
  });
});
