// What may be wrong with a field of a form.
import type { Texts } from './languages.js';

export const fieldTexts = {
  'fieldError.summary': [
    'Há campos a corrigir. Nada foi gravado.',
    'Some fields need correction. Nothing was stored.',
  ],
  'fieldError.other': ['Este valor não é aceito.', 'This value is not accepted.'],
  'fieldError.required': ['Preencha este campo.', 'Fill in this field.'],
  'fieldError.once': ['Esta condição só pode aparecer uma vez.', 'This condition stands once.'],
  'fieldError.otherTerms': [
    'Este identificador já é de um pagamento com outros termos.',
    'This id names a payment with other terms.',
  ],
  'fieldError.metadataKey': [
    'Cada linha é “chave: valor”; chaves de 1 a 40 letras, números, _, . e -.',
    'Each line is “key: value”; keys have 1 to 40 letters, digits, _, . and -.',
  ],
  'fieldError.nameTaken': ['Já existe uma regra com este nome.', 'A rule has this name already.'],
  'fieldError.twoDecimals': ['Use no máximo duas casas decimais.', 'Use at most two decimals.'],
  'fieldError.number': [
    'Escreva um número, como 1.234,56.',
    'Write a number, such as 1.234,56 or 1234.56.',
  ],
  'fieldError.wholeNumber': ['Escreva um número inteiro.', 'Write a whole number.'],
  'fieldError.tooLarge': ['O valor é grande demais.', 'The value is too large.'],
  'fieldError.positive': ['Deve ser maior que zero.', 'It must be greater than zero.'],
  'fieldError.notNegative': ['Não pode ser negativo.', 'It must not be negative.'],
  'fieldError.between': [
    'Deve estar entre {least} e {most}.',
    'It must be from {least} to {most}.',
  ],
  'fieldError.moreThan': [
    'Deve ser maior que {least} e no máximo {most}.',
    'It must be more than {least} and at most {most}.',
  ],
  'fieldError.maxCharacters': [
    'Use no máximo {most} caracteres.',
    'Use at most {most} characters.',
  ],
  'fieldError.sharedDays': [
    'No máximo {most} dias: duas parcelas não podem aceitar o mesmo dia.',
    'At most {most} days: two instalments must not share a day.',
  ],
  'fieldError.settlementDays': [
    'A janela de uma liquidação líquida tem no máximo {most} dias.',
    'The window of a net settlement has at most {most} days.',
  ],
  'fieldError.windowDays': [
    'O período pode ter no máximo {most} dias.',
    'The period may have at most {most} days.',
  ],
  'fieldError.atMost': ['Deve ser no máximo {most}.', 'It must be at most {most}.'],
  'fieldError.tooMany': ['No máximo {most}.', 'At most {most}.'],
  'fieldError.lessThanLeast': [
    'Não pode ser menor que o valor mínimo.',
    'It must not be less than the least value.',
  ],
  'fieldError.beforeFirst': [
    'Não pode ser antes da primeira data.',
    'It must not be before the first date.',
  ],
  'fieldError.afterLast': [
    'Não pode ser depois da última data.',
    'It must not be after the last date.',
  ],
  'fieldError.date': ['Escreva uma data que exista.', 'Write a date that exists.'],
  'fieldError.taxId': ['Escreva um CPF ou CNPJ válido.', 'Write a valid CPF or CNPJ.'],
  'fieldError.typeName': [
    'Escreva o nome de um tipo de lançamento.',
    'Write the name of a type of line.',
  ],
  'fieldError.pattern': ['O padrão não está na sintaxe RE2.', 'The pattern is not in RE2 syntax.'],
  'fieldError.patternSize': [
    'O padrão repete demais: use repetições menores.',
    'The pattern repeats too much: use smaller repetitions.',
  ],
  'fieldError.patternOfAll': [
    'O padrão aceita qualquer texto e não distingue nenhum lançamento.',
    'The pattern accepts any text and distinguishes no line.',
  ],
  'fieldError.identifier': [
    'Use de 1 a 100 letras sem acento, números e sinais, sem espaços nas pontas.',
    'Use 1 to 100 letters without accents, digits and signs, without spaces at the ends.',
  ],
  'fieldError.storable': [
    'O texto tem um caractere que não pode ser gravado.',
    'The text has a character that cannot be stored.',
  ],
  'fieldError.needsIdentity': [
    'Escolha o CPF/CNPJ ou o identificador: só o valor não identifica um pagamento.',
    'Choose the tax id or the reference: an amount alone identifies no payment.',
  ],
  'fieldError.needsAmountOrWindow': [
    'Escolha também o valor ou a data.',
    'Choose the amount or the date too.',
  ],
  'fieldError.onlyByAmount': [
    'Só é possível quando o valor é comparado.',
    'Possible only where the amount is compared.',
  ],
  'fieldError.onlyByDocument': [
    'Só é possível quando o CPF/CNPJ é comparado.',
    'Possible only where the tax id is compared.',
  ],
  'fieldError.groupByNotes': [
    'Para agrupar pelos identificadores, compare o identificador.',
    'To group by references, compare the reference.',
  ],
  'fieldError.groupByDay': [
    'Para agrupar por dia ou janela, compare o CPF/CNPJ e a data.',
    'To group by day or window, compare the tax id and the date.',
  ],
  'fieldError.feeBounds': [
    'Informe os limites da taxa, em percentual ou por venda.',
    'Give the bounds of the fee, as a percentage or for each sale.',
  ],
  'fieldError.needsCondition': [
    'Uma classificação precisa de pelo menos uma condição.',
    'A classification needs at least one condition.',
  ],
  'fieldError.amountOrRange': [
    'Informe o valor, ou o menor e o maior valor.',
    'Give the amount, or the least and the greatest amount.',
  ],
  'fieldError.notWithRange': [
    'Não pode ser informado junto com uma faixa de valores.',
    'It must not be given together with a range.',
  ],
  'fieldError.wholeRange': [
    'Uma faixa tem o menor e o maior valor.',
    'A range has a least and a greatest amount.',
  ],
  'fieldError.lessThanAmount': ['Deve ser menor que o valor.', 'It must be less than the amount.'],
  'fieldError.rangeNeedsIdentity': [
    'Uma faixa precisa de uma referência, de um CPF/CNPJ ou de um texto.',
    'A range needs a reference, a tax id or a text.',
  ],
} as const satisfies Texts;
