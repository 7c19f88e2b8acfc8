/** What is wrong with a line; who reads the file adds its name and the number of the line. */
export class SyntaxFault extends Error {
  override readonly name = "SyntaxFault";
}
