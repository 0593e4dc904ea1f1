// The pages of operators, in one file: two files would split what they share into a third.

export { default as Account } from "./account";
export { default as Accounts } from "./accounts";
export { default as Checks } from "./checks";
export { default as Queues } from "./queues";
export { default as Rates } from "./rates";
export { default as SignUps } from "./sign-ups";
