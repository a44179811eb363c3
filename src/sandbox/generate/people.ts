/** A payer or beneficiary in generated data: an invented name and a valid CPF or CNPJ. */
export interface Person {
  name: string;
  document: string;
}

export const people: readonly [Person, ...Person[]] = [
  { name: 'Ana Beatriz Moreira', document: '31840295732' },
  { name: 'Bruno Carvalho Lima', document: '36562207002' },
  { name: 'Carla Nogueira Prado', document: '41284118339' },
  { name: 'Diego Fontes Azevedo', document: '46006029600' },
  { name: 'Elisângela Rocha Brito', document: '50727940910' },
  { name: 'Fábio Teixeira Campos', document: '55449852274' },
  { name: 'Gabriela Antunes Reis', document: '60171763580' },
  { name: 'Hélio Duarte Pacheco', document: '64893674838' },
  { name: 'Íris Valadares Couto', document: '69615586153' },
  { name: 'João Pedro Siqueira', document: '74337497480' },
];

export const companies: readonly [Person, ...Person[]] = [
  { name: 'Padaria Estrela do Sul Ltda', document: '40118223000172' },
  { name: 'Auto Peças Horizonte Ltda', document: '45332014000140' },
  { name: 'Clínica Bem Viver S/S', document: '50545805000199' },
  { name: 'Mercado Novo Bairro Ltda', document: '55759596000108' },
  { name: 'Transportes Rio Claro S.A.', document: '60973387000194' },
  { name: 'Editora Folha Aberta Ltda', document: '66187178000100' },
];
