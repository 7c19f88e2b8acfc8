/** Why something was not looked at, when the time that a verification was given did not suffice. */
export const timeOver = "The time for the verification was over.";
