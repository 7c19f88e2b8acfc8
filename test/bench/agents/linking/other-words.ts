/** A question about one of the nine datasets that avoids the words of its schema. */
export interface OtherWords {
  readonly dataset: string;
  readonly question: string;
  /** IRIs of classes and properties that a right query needs. */
  readonly terms: readonly string[];
}

/** As `dataset: question | terms`, these by what follows in their IRIs. */
const parsed = (lines: readonly string[]): readonly OtherWords[] =>
  lines.map((line) => {
    const [, dataset, question, names] = /^(\w+): (.*) \| (.*)$/.exec(line) ?? [];
    if (dataset === undefined || question === undefined || names === undefined)
      throw new Error(`not a question: ${line}`);
    return { dataset, question, terms: names.split(" ").map((name) => `http://valuenet/ontop/${name}`) };
  });

/** Weights and thresholds were chosen while looking at these. */
export const tunedOn = parsed([
  "battle_death: Which fights ended in a defeat of the Latin Empire? | battle battle#result",
  "battle_death: How many men lost their lives when each vessel sank? | ship death#killed",
  "battle_death: What became of the boats that took part in the conflict of 1205? | ship#disposition_of_ship battle#date",
  "battle_death: Number of sailors hurt but not dead, for every brig | death#injured ship#ship_type",
  "car_1: Which automobiles use the least fuel? | cars_data#mpg",
  "car_1: Firms that build vehicles in Germany, with their complete title | car_makers#fullname countries#countryname",
  "car_1: How heavy is the strongest engine's automobile? | cars_data#weight cars_data#horsepower",
  "concert_singer: Which vocalists are French? | singer singer#country",
  "concert_singer: How many spectators fit into the venue in Dingwall? | stadium#capacity stadium#location",
  "concert_singer: How old is the youngest performer? | singer#age singer",
  "concert_singer: Which gigs took place in 2014? | concert concert#year",
  "dog_kennels: What did the vet's care of each puppy cost? | treatments#cost_of_treatment dogs",
  "dog_kennels: Which animals were left behind by the people who kept them? | dogs#abandoned_yn",
  "dog_kennels: Phone numbers of people who have hounds in Virginia | owners#home_phone owners#state",
  "dog_kennels: When did the pups find a new home? | dogs#date_adopted",
  "flight_2: Which carriers are American? | airlines airlines#country",
  "flight_2: How many planes land at APG? | flights#destairport",
  "flight_2: Which towns can one fly to from Aberdeen? | airports#city flights#sourceairport",
  "network_1: Which teenagers have no buddies? | highschooler friend",
  "network_1: In which year of school is Kyle? | highschooler#grade highschooler#name",
  "network_1: Who has a crush on Gabriel? | likes highschooler#name",
  "pets_1: How heavy are the animals that undergraduates keep? | pets#weight student",
  "pets_1: Surnames of female undergraduates with a kitten | student#lname student#sex pets#pettype",
  "pets_1: Which subject do people study who keep a puppy? | student#major has_pet",
  "tvshow: Which stations broadcast in English? | tv_channel tv_channel#language",
  "tvshow: Who made the animated films shown on each station? | cartoon#directed_by cartoon",
  "tvshow: How large was the audience of each instalment? | tv_series#viewers_m tv_series#episode",
  "world_1: Which nations became free after 1950? | country#indepyear country",
  "world_1: How many people live in the towns of Gelderland? | city#population city#district",
  "world_1: How long do people in Angola live on average? | country#lifeexpectancy country#name",
  "world_1: Which tongues are spoken in Aruba, and by what part of its inhabitants? | countrylanguage#language countrylanguage#percentage",
  "battle_death: Who led the Bulgarian troops in each clash? | battle#bulgarian_commander battle",
  "battle_death: How big is the heaviest vessel that sank? | ship#tonnage ship",
  "battle_death: Where did the frigates go down? | ship#location ship#ship_type",
  "car_1: How quickly does each vehicle speed up? | cars_data#accelerate",
  "car_1: Which manufacturers sit in Asian nations? | car_makers continents#continent",
  "car_1: How powerful was the motor of automobiles built in 1974? | cars_data#horsepower cars_data#year",
  "concert_singer: Which arena has the most seats? | stadium#capacity stadium",
  "concert_singer: Which tunes did female artists record? | singer#song_name singer#is_male",
  "concert_singer: What was the motto of every show? | concert#theme concert",
  "dog_kennels: Emails of the vets living in Wisconsin | professionals#email_address professionals#state",
  "dog_kennels: How many puppies are of the Husky kind? | breeds#breed_name dogs",
  "dog_kennels: What do we bill for each service? | charges#charge_amount charges#charge_type",
  "flight_2: How many departures are there from Boston? | flights#sourceairport airports#city",
  "flight_2: Short names of all aviation companies | airlines#abbreviation airlines",
  "flight_2: Which nation does JetBlue come from? | airlines#country airlines#airline",
  "network_1: Who is admired by most pupils? | likes highschooler",
  "network_1: How many pals has every teen? | friend highschooler",
  "network_1: List the youngsters of the ninth year | highschooler#grade highschooler#name",
  "pets_1: How old is the youngest cat? | pets#pet_age pets#pettype",
  "pets_1: Which teacher guides each learner? | student#advisor student",
  "pets_1: Where do male undergraduates live? | student#city_code student#sex",
  "tvshow: Who penned the animated movies? | cartoon#written_by cartoon",
  "tvshow: Which programmes got the best marks? | tv_series#rating tv_series",
  "tvshow: On which day was each cartoon first broadcast? | cartoon#original_air_date cartoon",
  "world_1: What is the seat of government of Ghana? | country#capital country#name",
  "world_1: Which kings and presidents rule in Africa? | country#headofstate country#continent",
  "world_1: How many square kilometres does Brazil cover? | country#surfacearea country#name",
]);

/** These were not looked at until the end. */
export const unseen = parsed([
  "battle_death: Where did the vessels go down? | ship#location ship",
  "battle_death: Who led the Bulgarians in the clash at Adrianople? | battle#bulgarian_commander battle#name",
  "battle_death: Which boats were the biggest? | ship#tonnage ship",
  "car_1: How quickly do the autos of 1970 speed up? | cars_data#accelerate cars_data#year",
  "car_1: On which part of the earth is each nation that manufactures autos? | continents#continent countries",
  "car_1: Which manufacturers offer more than three kinds of automobile? | car_makers model_list",
  "car_1: Mean power of motors with three pistons | cars_data#horsepower cars_data#cylinders",
  "concert_singer: Which arenas hosted no shows? | stadium concert",
  "concert_singer: What are the tracks of male musicians called? | singer#song_name singer#is_male",
  "concert_singer: What was the motto of each performance? | concert#theme",
  "concert_singer: Where do the musicians come from? | singer#country singer",
  "dog_kennels: What kind of hound is each pet, and how big is it? | dogs#ref-breed_code dogs#ref-size_code dogs",
  "dog_kennels: Which vets live in Wisconsin? | professionals professionals#state",
  "dog_kennels: When was each puppy born? | dogs#date_of_birth dogs",
  "dog_kennels: What price is asked for a medical check? | charges#charge_amount charges#charge_type",
  "flight_2: Which company runs most trips? | airlines#airline flights",
  "flight_2: Which places where planes land are in Alton? | airports airports#city",
  "flight_2: Short name of JetBlue | airlines#abbreviation airlines#airline",
  "network_1: Who are the pals of John? | friend highschooler#name",
  "network_1: How many pupils are in their tenth year? | highschooler highschooler#grade",
  "network_1: Which pupils are fond of nobody? | likes highschooler",
  "pets_1: How many years have the oldest cats lived? | pets#pet_age pets#pettype",
  "pets_1: Who guides the learners that have no animal? | student#advisor has_pet",
  "pets_1: In which town do men live who keep a hamster? | student#city_code student#sex has_pet",
  "tvshow: Who is the author of the animation about Batman? | cartoon#written_by cartoon#title",
  "tvshow: When was each instalment first shown? | tv_series#air_date tv_series#episode",
  "tvshow: From which nations are the stations with sharp pictures? | tv_channel#country tv_channel#high_definition_tv",
  "world_1: How large is the territory of each monarchy? | country#surfacearea country#governmentform",
  "world_1: Who rules Brazil? | country#headofstate country#name",
  "world_1: Which metropolises have over a million inhabitants? | city#population city",
]);
