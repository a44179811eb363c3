// Before each file of the project `contract-through-service`: the bank that it asks is the service in front of one.
const settings = process.env.TEST_SERVICE_IN_FRONT;
if (!settings) throw new Error('service-in-front.mjs has started no service');
Object.assign(process.env, JSON.parse(settings));
