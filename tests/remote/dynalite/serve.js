// Serves DynamoDB's API on a free port, with everything in memory, and prints the port.
import dynalite from "dynalite";

const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
