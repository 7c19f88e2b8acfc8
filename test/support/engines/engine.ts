/** A real SPARQL engine under test. */
export interface Engine {
  /** SPARQL Protocol query URL. */
  readonly url: string;
  /** Process id of the server; changes with `restart`. */
  pid(): number;
  /** SIGKILL, as when the machine dies. */
  kill(): Promise<void>;
  /** Starts the server again on the same port with the same data. */
  restart(): Promise<void>;
  /** Ends the server and removes its scratch folder. */
  stop(): Promise<void>;
}
